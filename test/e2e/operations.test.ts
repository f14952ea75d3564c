import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { NodeView } from '@shared/contract/index.ts'
import { anet, anetJson, stopsWithTest } from '../helpers/anet-command.ts'
import { asReader, codeBlocks, page, repository } from '../helpers/page-commands.ts'
import { temporaryFolder } from '../helpers/temporary-folder.ts'

const operations = page('docs/operations.md')
const anetCommands = codeBlocks(operations, 'sh').map((block) => block.trim())
const [preamble = '', curls = ''] = codeBlocks(operations, 'bash')

/** A home directory with `anet` on the PATH: the page's commands name `~/hub` and `anet`. */
async function readersHome(): Promise<{ HOME: string; PATH: string }> {
  const HOME = await temporaryFolder()
  await mkdir(join(HOME, 'bin'))
  const command = join(HOME, 'bin', 'anet')
  await writeFile(command, `#!/bin/sh\nexec '${process.execPath}' '${resolve(repository, 'out/cli/index.js')}' "$@"\n`)
  await chmod(command, 0o700)
  return { HOME, PATH: `${join(HOME, 'bin')}:${process.env['PATH'] ?? ''}` }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** Runs a command that stays, until the test ends. Resolves when it has printed the pattern. */
async function running(command: string, env: NodeJS.ProcessEnv, pattern: RegExp) {
  const child: ChildProcess = spawn('bash', ['-c', `exec ${command}`], { env: { ...process.env, ...env } })
  const exited = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exited
  })
  let output = ''
  child.stderr?.on('data', (data: Buffer) => (output += data.toString()))
  child.stdout?.on('data', (data: Buffer) => (output += data.toString()))
  await expect.poll(() => output, { timeout: 20_000 }).toMatch(pattern)
  return {
    output,
    async stop(signal: NodeJS.Signals) {
      child.kill(signal)
      return (await exited) as [number | null, NodeJS.Signals | null]
    },
  }
}

test('the commands of the page run a hub, and a node joins it with an invite', async () => {
  const [run = '', invite = ''] = anetCommands
  expect(anetCommands).toHaveLength(2)
  const env = await readersHome()
  const port = await freePort()
  expect(run).toContain('--port 7800')
  const hub = await running(run.replace('--port 7800', `--port ${port}`), env, /Data +\S+/)
  const url = `http://127.0.0.1:${port}`
  expect(hub.output).toContain(url)
  const hubAid = /AID +(\S+)/.exec(hub.output)?.[1] ?? ''

  // a node of the reader's own, as README.md says; where nobody can be asked it needs to be told more
  const dataDir = join(env.HOME, 'node')
  stopsWithTest(dataDir)
  const own = { ...env, ANET_DATA_DIR: dataDir }
  const steps = [...page('README.md').matchAll(/`npx (anet (?:init|up|join)[^`]*)`/g)].map(
    ([, command = '']) => command,
  )
  const [init = '', up = '', join_ = ''] = steps.map((command) => command.replace(/\s+/g, ' '))
  expect(steps).toHaveLength(3)
  await asReader(`${init} --secret-store file --recovery-file ~/recovery.txt`, { env: own })
  await asReader(up, { env: own })

  // without an invite it is turned away, with what to do
  const uninvited = await anet(['join', url], { dataDir, env: own })
  expect(uninvited.code).not.toBe(0)
  expect(uninvited.stdout + uninvited.stderr).toMatch(/invite/i)

  const code = (await asReader(invite, { env })).split('\n')[0] ?? ''
  await asReader(`${join_} --invite ${code} --hub-aid ${hubAid}`, { env: own, fill: { 'hub URL': url } })
  const status = await anetJson<NodeView>(['status'], { dataDir })
  expect(status.join).toMatchObject({ registered: true, hub: { aid: hubAid, url } })
  const spent = await anet(['join', url, '--invite', code], { dataDir: await another(env), env })
  expect(spent.code).not.toBe(0)

  // every curl command of the page, in bash
  for (const line of curls.trim().split('\n')) {
    // the page's order: the member that is removed is there before
    // oxlint-disable-next-line no-await-in-loop
    const answer = await asReader(`${preamble}\n${line.replace('curl -s', 'curl -sf')}`, {
      env: { ...env, AID: status.aid },
    })
    expect(answer, line).not.toBe('')
  }
  expect(await hub.stop('SIGTERM')).toEqual([0, null])
})

/** A second node, which has no invite of its own. */
async function another(env: Readonly<Record<string, string>>): Promise<string> {
  const dataDir = join(env['HOME'] ?? '', 'another')
  stopsWithTest(dataDir)
  await anet(['init', '--secret-store', 'file', '--recovery-file', join(env['HOME'] ?? '', 'another.txt')], { dataDir })
  await anet(['up'], { dataDir })
  return dataDir
}
