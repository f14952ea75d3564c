import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { CheckView, NodeView, TaskDetailView } from '@shared/contract/index.ts'
import { anet, anetJson, startAnet, stopsWithTest } from '../../helpers/anet-command.ts'
import { temporaryFolder } from '../../helpers/temporary-folder.ts'

/** A busy machine takes longer than the second that a poll has by itself. */
const patient = { timeout: 10_000 }

async function initialised(folder: string, name: string): Promise<string> {
  const dataDir = join(folder, name)
  const parameters = ['init', '--secret-store', 'file', '--recovery-file', join(folder, `${name}.recovery`)]
  const { code, stderr } = await anet(parameters, { dataDir })
  if (code !== 0) throw new Error(stderr)
  stopsWithTest(dataDir)
  return dataDir
}

/** False for a zombie too: an orphan is reaped when init gets round to it. */
const isAlive = (pid: number): boolean => {
  try {
    return !/^\d+ \(.*\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

describe('the life of a node', () => {
  it('goes from up to stop, and says at each step what is so', async () => {
    const dataDir = await initialised(await temporaryFolder(), 'node')

    const up = await anet(['up'], { dataDir })
    expect(up).toMatchObject({ code: 0, stderr: '' })
    expect(up.stdout).toMatch(/A2A address +127\.0\.0\.1:\d+/)
    expect(up.stdout).toMatch(/Agents URL +http:\/\/127\.0\.0\.1:\d+\/a2a\/v1\/agents/)
    expect(up.stdout).toMatch(/Token file +.*a2a_token\.txt/)
    expect(up.stdout).toMatch(/Hub +/)
    expect(up.stdout).toContain('Warning')

    const again = await anet(['up'], { dataDir })
    expect(again.code).toBe(0)
    expect(again.stdout).toContain('already')

    const status = await anetJson<NodeView>(['status'], { dataDir })
    expect(status).toMatchObject({ kind: 'headless', dataDir, join: { state: 'no_hub' }, endpoint: { state: 'up' } })
    expect(isAlive(status.pid)).toBe(true)

    const examined = await anet(['doctor', '--json'], { dataDir })
    expect(examined.code).toBe(0)
    const doctor = JSON.parse(examined.stdout) as { running: boolean; checks: CheckView[] }
    expect(doctor.running).toBe(true)
    const outcomes = Object.fromEntries(doctor.checks.map(({ name, outcome }) => [name, outcome]))
    expect(outcomes).toMatchObject({
      'data directory': 'ok',
      config: 'ok',
      'secret store': 'warn',
      database: 'ok',
      clock: 'ok',
      hub: 'warn',
    })

    const address = await anet(['a2a', 'address'], { dataDir })
    expect(address.stdout.trim()).toBe(readFileSync(join(dataDir, 'modules/a2a/a2a_addr.txt'), 'utf8').trim())
    expect((await anet(['a2a', 'address', '--url'], { dataDir })).stdout.trim()).toBe(status.endpoint.agentsUrl)
    expect((await anet(['a2a', 'token-file'], { dataDir })).stdout.trim()).toBe(status.endpoint.tokenFile)

    const stop = await anet(['stop'], { dataDir })
    expect(stop).toMatchObject({ code: 0, stdout: 'The node has stopped.\n' })
    await expect.poll(() => isAlive(status.pid), patient).toBe(false)
    expect(existsSync(join(dataDir, 'control_token.txt'))).toBe(false)
    expect(existsSync(join(dataDir, 'node.lock'))).toBe(false)
    expect(await anet(['status'], { dataDir })).toMatchObject({ code: 3 })

    // the endpoint's address is the same at every start
    await anet(['up'], { dataDir })
    expect((await anet(['a2a', 'address'], { dataDir })).stdout).toBe(address.stdout)
  })

  it('prints no token, ever, and keeps its files private', async () => {
    const dataDir = await initialised(await temporaryFolder(), 'node')
    const printed: string[] = []
    for (const parameters of [
      ['up'],
      ['status'],
      ['status', '--json'],
      ['doctor'],
      ['a2a', 'retry'],
      ['agents', 'list'],
    ]) {
      const { stdout, stderr } = await anet(parameters, { dataDir })
      printed.push(stdout, stderr)
    }
    const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    for (const entry of files) {
      expect(statSync(join(entry.parentPath, entry.name)).mode & 0o077, entry.name).toBe(0)
    }
    for (const file of ['control_token.txt', 'modules/a2a/a2a_token.txt']) {
      const token = readFileSync(join(dataDir, file), 'utf8').trim()
      expect(token).toMatch(/^[0-9a-f]{64}$/)
      expect(printed.join('')).not.toContain(token)
      for (const log of readdirSync(join(dataDir, 'logs'))) {
        expect(readFileSync(join(dataDir, 'logs', log), 'utf8')).not.toContain(token)
      }
    }
  })

  it('runs in the foreground until it is told to end', async () => {
    const dataDir = await initialised(await temporaryFolder(), 'node')
    const node = startAnet(['up', '--foreground'], { dataDir })
    await node.printed(/A2A address/)
    expect(await anetJson(['status'], { dataDir })).toMatchObject({ pid: node.process.pid })
    node.process.kill('SIGTERM')
    expect(await node.ended).toBe(0)
    expect(existsSync(join(dataDir, 'node.lock'))).toBe(false)
  })

  it('starts again after it was killed', async () => {
    const dataDir = await initialised(await temporaryFolder(), 'node')
    const node = startAnet(['up', '--foreground'], { dataDir })
    await node.printed(/A2A address/)
    node.process.kill('SIGKILL')
    await node.ended
    expect(await anet(['status'], { dataDir })).toMatchObject({ code: 3 })
    expect(await anet(['up'], { dataDir })).toMatchObject({ code: 0 })
  })

  it('does not start on a broken configuration, and names the line and the key', async () => {
    const dataDir = await initialised(await temporaryFolder(), 'node')
    const config = join(dataDir, 'config.json')
    writeFileSync(config, '{\n  "inbond": { "policy": "open" }\n}\n', { mode: 0o600 })
    const { code, stderr } = await anet(['up'], { dataDir })
    expect(code).toBe(2)
    expect(stderr).toContain('inbond')
    expect(stderr).toContain('inbound')
    expect(readFileSync(config, 'utf8')).toContain('inbond')
    const doctor = await anetJson<{ checks: CheckView[] }>(['doctor'], { dataDir })
    expect(doctor.checks.find(({ name }) => name === 'config')).toMatchObject({ outcome: 'fail' })
  })
})

describe('a task by hand, through a hub', () => {
  it('goes from send to the inbox of a peer and back, with files and a question', async () => {
    const folder = await temporaryFolder()
    const hubDir = join(folder, 'hub')
    const hub = startAnet(['hub', 'run', '--data', hubDir, '--port', '0', '--policy', 'invite', '--json'])
    const { url, aid: hubAid } = JSON.parse((await hub.printed(/^\{.*\}$/m))[0]) as { url: string; aid: string }

    const alice = await initialised(folder, 'alice')
    const bob = await initialised(folder, 'bob')
    const { aid: aliceAid } = await anetJson<NodeView>(['up'], { dataDir: alice })
    writeFileSync(
      join(bob, 'config.json'),
      JSON.stringify({
        agent: { name: 'bob\u001b[31m' },
        skills: [{ id: 'answer', name: 'Answers' }],
        peers: { allow: [{ aid: aliceAid }] },
      }),
      { mode: 0o600 },
    )
    const { aid: bobAid } = await anetJson<NodeView>(['up'], { dataDir: bob })

    expect(await anetJson(['join', url, '--hub-aid', hubAid], { dataDir: alice })).toMatchObject({
      error: { code: 'invite_required' },
    })
    for (const dataDir of [alice, bob]) {
      const { invite } = await anetJson<{ invite: string }>(['hub', 'invite', '--data', hubDir])
      const joined = await anet(['join', url, '--hub-aid', hubAid, '--invite', invite], { dataDir })
      expect(joined).toMatchObject({ code: 0 })
    }
    expect(await anetJson(['hub', 'status', '--data', hubDir])).toMatchObject({ members: 2, policy: 'invite' })

    const agents = await anet(['agents', 'list', '--refresh', '--wide'], { dataDir: alice })
    expect(agents.stdout).toContain(bobAid)
    expect(agents.stdout).toContain('bob\\u001b[31m')
    expect(agents.stdout).not.toContain('\u001b')
    expect((await anet(['agents', 'show', bobAid], { dataDir: alice })).stdout).toContain('/jsonrpc')
    expect(await anetJson(['agents', 'card', bobAid, '--network'], { dataDir: alice })).toMatchObject({
      skills: [{ id: 'answer' }],
    })

    const attachment = join(folder, 'numbers.csv')
    writeFileSync(attachment, '1,2,3\n')
    const sending = anet(['send', bobAid, 'Add these up.', '--file', attachment], { dataDir: alice })
    const [item] = await arrived(bob)
    expect(item?.message.parts[0]).toMatchObject({ text: 'Add these up.' })
    expect((await anet(['inbox', 'show', String(item?.id)], { dataDir: bob })).stdout).toContain(
      '[file numbers.csv, text/csv, 6 bytes]',
    )
    await anet(['inbox', 'ask', String(item?.id), 'All of them?'], { dataDir: bob })
    const asked = await sending
    expect(asked.code).toBe(0)
    expect(asked.stdout).toContain('All of them?')
    const id = /--task ([0-9a-f]+)\)/.exec(asked.stdout)?.[1] ?? ''

    const answering = anet(['send', bobAid, 'Yes.', '--task', id], { dataDir: alice })
    const [second] = await arrived(bob)
    writeFileSync(attachment, 'sum\n6\n')
    await anet(['inbox', 'complete', String(second?.id), 'The sum is 6.', '--file', attachment], { dataDir: bob })
    expect(await answering).toMatchObject({ code: 0, stdout: expect.stringContaining('The sum is 6.') })

    const task = await anetJson<TaskDetailView>(['tasks', 'show', id], { dataDir: alice })
    expect(task.state).toBe('TASK_STATE_COMPLETED')
    const artifact = task.entries.find((entry) => entry.kind === 'artifact')
    const part = artifact?.artifact.parts.findIndex(({ filename }) => filename === 'numbers.csv') ?? -1
    const saved = join(folder, 'saved.csv')
    const save = ['tasks', 'save', id, String(artifact?.seq), saved, '--part', String(part)]
    expect(await anet(save, { dataDir: alice })).toMatchObject({ code: 0 })
    expect(readFileSync(saved, 'utf8')).toBe('sum\n6\n')
    expect(await anet(save, { dataDir: alice })).toMatchObject({ code: 1, stderr: expect.stringContaining('exists') })

    expect((await anet(['tasks', 'list', '--out'], { dataDir: alice })).stdout).toContain(id)
    expect((await anet(['tasks', 'watch', id], { dataDir: alice })).stdout).toContain('All of them?')

    const refused = anet(['send', bobAid, 'And these?'], { dataDir: alice })
    const [third] = await arrived(bob)
    await anet(['inbox', 'refuse', String(third?.id), 'Not today.'], { dataDir: bob })
    expect(await refused).toMatchObject({ code: 1, stdout: expect.stringContaining('Not today.') })
  })
})

interface Item {
  readonly id: number
  readonly message: { readonly parts: readonly Record<string, unknown>[] }
}

/** The open items of an inbox, as soon as there is one. */
async function arrived(dataDir: string): Promise<readonly Item[]> {
  for (;;) {
    const { items } = await anetJson<{ items: Item[] }>(['inbox', 'list'], { dataDir })
    if (items.length > 0) return items
  }
}
