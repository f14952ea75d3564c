import { expect, test } from 'vitest'
import { listenerUids, parseProcNetTcp } from '../../../src-main/node/modules/a2a/backends/proc-net-tcp.ts'

const header = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode'
const row = (local: string, state: string, uid: number) =>
  `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000 ${uid}        0 12345 1`

test('the uid of a listener is found by address and port', () => {
  const sockets = parseProcNetTcp([header, row('0100007F:1F90', '0A', 1000), row('0100007F:1F91', '0A', 7)].join('\n'))
  expect([...listenerUids(sockets, '127.0.0.1', 8080)]).toEqual([1000])
  expect([...listenerUids(sockets, '127.0.0.2', 8080)]).toEqual([])
})

test('connections that do not listen are not listeners', () => {
  const sockets = parseProcNetTcp([header, row('0100007F:1F90', '01', 1000)].join('\n'))
  expect(listenerUids(sockets, '127.0.0.1', 8080).size).toBe(0)
})

test('a listener on every address counts where none is on the very address', () => {
  const any = row('00000000:1F90', '0A', 5)
  const own = row('0100007F:1F90', '0A', 6)
  expect([...listenerUids(parseProcNetTcp([header, any].join('\n')), '127.0.0.1', 8080)]).toEqual([5])
  expect([...listenerUids(parseProcNetTcp([header, any, own].join('\n')), '127.0.0.1', 8080)]).toEqual([6])
})

test('several listeners on one port are all named', () => {
  const rows = [header, row('0100007F:1F90', '0A', 5), row('0100007F:1F90', '0A', 6)]
  expect([...listenerUids(parseProcNetTcp(rows.join('\n')), '127.0.0.1', 8080)]).toEqual([5, 6])
})

test('IPv6 listeners are read, also those that serve IPv4', () => {
  const loopback = row('00000000000000000000000001000000:1F90', '0A', 8)
  const mapped = row('0000000000000000FFFF00000100007F:1F91', '0A', 9)
  const sockets = parseProcNetTcp([header, loopback, mapped].join('\n'))
  expect([...listenerUids(sockets, '::1', 8080)]).toEqual([8])
  expect([...listenerUids(sockets, '127.0.0.1', 8081)]).toEqual([9])
  expect([...listenerUids(sockets, '::ffff:127.0.0.1', 8081)]).toEqual([9])
})

test('a table that is not one yields nothing', () => {
  expect(parseProcNetTcp('')).toEqual([])
  expect(parseProcNetTcp('garbage\nmore garbage')).toEqual([])
})
