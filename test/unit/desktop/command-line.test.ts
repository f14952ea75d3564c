import { expect, test } from 'vitest'
import { refusedSwitch, startOf } from '../../../src-main/desktop/command-line.ts'

const out = new URL('file:///opt/ANet/resources/app.asar/out/')
const exe = '/opt/ANet/anet-desktop'

test('without arguments the window is wanted', () => {
  expect(startOf([exe], out)).toEqual({ kind: 'window' })
  expect(startOf([exe, '--disable-gpu'], out)).toEqual({ kind: 'window' })
})

test('what follows --cli is the command, with or without the mark before it', () => {
  const parameters = ['send', 'b', 'text', '--no-wait']
  expect(startOf([exe, '--no-sandbox', '--cli', '--', ...parameters], out)).toEqual({ kind: 'command', parameters })
  expect(startOf([exe, '--cli', ...parameters], out)).toEqual({ kind: 'command', parameters })
  expect(startOf([exe, '--cli'], out)).toEqual({ kind: 'command', parameters: [] })
})

test('a fork of one of its own programs is that program, and of nothing else', () => {
  const entry = '/opt/ANet/resources/app.asar/out/workers/keychain.js'
  expect(startOf([exe, entry], out)).toEqual({ kind: 'child', entry: new URL('workers/keychain.js', out) })
  expect(startOf([exe, '/tmp/workers/keychain.js'], out)).toEqual({ kind: 'window' })
  expect(startOf([exe, `${entry}/../../main/index.js`], out)).toEqual({ kind: 'window' })
})

test('switches that open the window to other programs are refused', () => {
  expect(refusedSwitch((name) => name === 'remote-debugging-port')).toBe('remote-debugging-port')
  expect(refusedSwitch(() => false)).toBeUndefined()
})
