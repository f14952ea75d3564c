import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { anet, anetJson, startAnet, stopsWithTest } from '../../helpers/anet-command.ts'
import { temporaryFolder } from '../../helpers/temporary-folder.ts'

const view = /^\{.*\}$/m

it('a hub tells its operator on the terminal and in its log who joined', async () => {
  const folder = await temporaryFolder()
  const hubDir = join(folder, 'hub')
  const hub = startAnet(['hub', 'run', '--data', hubDir, '--port', '0', '--policy', 'open', '--json'])
  const { url, aid: hubAid } = JSON.parse((await hub.printed(view))[0]) as { url: string; aid: string }
  const dataDir = join(folder, 'node')
  await anet(['init', '--secret-store', 'file', '--recovery-file', join(folder, 'phrase')], { dataDir })
  stopsWithTest(dataDir)
  const { aid } = await anetJson<{ aid: string }>(['up'], { dataDir })
  await anet(['join', url, '--hub-aid', hubAid], { dataDir })
  hub.process.kill('SIGTERM')
  expect(await hub.ended).toBe(0)
  const lines = readFileSync(join(hubDir, 'logs/hub.log'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)
  expect(lines).toContainEqual(expect.objectContaining({ level: 'info', msg: 'An agent joined', aid }))
  expect(hub.stderr).toContain('An agent joined')
})

it('a hub dies at the fault point that a test chose, and is the same hub afterwards', async () => {
  const folder = await temporaryFolder()
  const run = ['hub', 'run', '--data', folder, '--port', '0', '--json']
  const first = startAnet(run, { env: { ANET_FAULT: 'hub.identity.saved' } })
  await first.ended
  expect(first.process.signalCode).toBe('SIGKILL')
  const aids: string[] = []
  for (let start = 0; start < 2; start += 1) {
    const hub = startAnet(run)
    aids.push((JSON.parse((await hub.printed(view))[0]) as { aid: string }).aid)
    hub.process.kill('SIGTERM')
    await hub.ended
  }
  expect(new Set(aids).size).toBe(1)
})
