import { expect, test } from 'vitest'
import { socketsOnPort } from '../../../src-main/node/modules/a2a/port-holder.ts'

// as the kernel of a little-endian machine prints them
const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:AB23 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 11 1 0 100 0 0 10 0
   1: 00000000:AB23 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 12 1 0 100 0 0 10 0
   2: 0100007F:AB23 0100007F:0050 01 00000000:00000000 00:00000000 00000000    33        0 13 1 0 100 0 0 10 0
   3: 0101A8C0:AB23 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 14 1 0 100 0 0 10 0
   4: 0100007F:AB24 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 15 1 0 100 0 0 10 0
   5: nonsense
`
const table6 = `  sl  local_address rem_address st
   0: 00000000000000000000000001000000:AB23 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000 1000 0 21 1 0 100 0 0 10 0
   1: 00000000000000000000000000000000:AB23 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000 1000 0 22 1 0 100 0 0 10 0
   2: 0000000000000000FFFF00000100007F:AB23 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000 1000 0 23 1 0 100 0 0 10 0
   3: 000080FE000000000000000001000000:AB23 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000 1000 0 24 1 0 100 0 0 10 0
`

test('sockets that keep a loopback bind from succeeding are found in every state', () => {
  expect(socketsOnPort(table, 0xab23)).toEqual([
    { state: '0A', uid: 1000, inode: '11' },
    { state: '0A', uid: 0, inode: '12' },
    { state: '01', uid: 33, inode: '13' },
  ])
  expect(socketsOnPort(table6, 0xab23).map(({ inode }) => inode)).toEqual(['21', '22', '23'])
  expect(socketsOnPort(table, 80)).toEqual([])
  expect(socketsOnPort('', 0xab23)).toEqual([])
})
