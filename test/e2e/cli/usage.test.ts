import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { anet, anetJson } from '../../helpers/anet-command.ts'
import { temporaryFolder } from '../../helpers/temporary-folder.ts'

const commands = [
  'init',
  'up',
  'stop',
  'status',
  'doctor',
  'join',
  'agents list',
  'agents show',
  'agents card',
  'send',
  'tasks list',
  'tasks show',
  'tasks watch',
  'tasks cancel',
  'tasks save',
  'inbox list',
  'inbox show',
  'inbox reply',
  'inbox complete',
  'inbox ask',
  'inbox refuse',
  'a2a address',
  'a2a token-file',
  'a2a retry',
  'hub run',
  'hub invite',
  'hub status',
  'demo',
]

describe('anet', () => {
  it('prints its version', async () => {
    expect(await anet(['--version'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
  })

  it.each(commands)('%s explains itself with an example and the exit status', async (command) => {
    const { code, stdout } = await anet([...command.split(' '), '--help'])
    expect(code).toBe(0)
    expect(stdout).toContain(`$ anet ${command.split(' ')[0]}`)
    expect(stdout).toMatch(/Exit status: 0 done; 1 .*; 2 .*; 3 the node is not running/)
    expect(stdout).toContain('--json')
  })

  it.each([
    [['fly'], /fly/],
    [['send'], /aid/],
    [['tasks', 'list', '--limit', '0'], /1 to 200/],
    [['tasks', 'list', '--state', 'flying'], /no state of a task/],
    [['status', '--colour'], /--colour/],
    [['hub', 'run', '--policy', 'maybe'], /policy/],
    [['\u001b[31mfly'], /\\u001b\[31mfly/],
    [['inbox', 'reply', '\u001b]0;1\u0007', 'x'], /\\u001b\]0;1\\u0007/],
  ])('ends %j with exit status 2', async (parameters, message) => {
    const { code, stderr } = await anet(parameters)
    expect(code).toBe(2)
    expect(stderr).toMatch(message)
    expect(stderr).not.toContain('\u001b')
    expect(await anetJson(parameters)).toMatchObject({ error: { code: 'usage' } })
  })
})

describe('without a node', () => {
  it.each([
    ['status'],
    ['stop'],
    ['join', 'http://127.0.0.1:1'],
    ['agents', 'list'],
    ['agents', 'show', 'bafyrei'],
    ['send', 'bafyrei', 'hello'],
    ['tasks', 'list'],
    ['tasks', 'watch', 'x'],
    ['inbox', 'list'],
    ['a2a', 'address'],
  ])('%s says so with exit status 3', async (...parameters) => {
    const dataDir = join(await temporaryFolder(), 'none')
    const { code, stdout, stderr } = await anet(parameters, { dataDir })
    expect(code).toBe(3)
    expect(stdout).toBe('')
    expect(stderr).toContain('anet up')
    expect(await anetJson(parameters, { dataDir })).toMatchObject({ error: { code: 'node_not_running' } })
  })

  it('doctor checks what needs none, and up asks for init', async () => {
    const dataDir = join(await temporaryFolder(), 'none')
    const { code, stdout } = await anet(['doctor'], { dataDir })
    expect(code).toBe(3)
    expect(stdout).toMatch(/fail +node +not running/)
    expect(stdout).toContain('anet init')
    expect(await anet(['up'], { dataDir })).toMatchObject({ code: 2, stderr: expect.stringContaining('anet init') })
  })
})
