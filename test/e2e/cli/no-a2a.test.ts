import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { CheckView } from '@shared/contract/index.ts'
import { temporaryFolder } from '../../helpers/temporary-folder.ts'

const root = resolve(import.meta.dirname, '../../..')

it('a build without the module a2a says so, and everything else works', async () => {
  // below the project, so that native modules are found
  const out = join(root, '.cache', `no-a2a-${process.pid}`, 'out')
  onTestFinished(() => rmSync(join(out, '..'), { recursive: true, force: true }))
  execFileSync(process.execPath, [join(root, 'node_modules/electron-vite/bin/electron-vite.js'), 'build'], {
    cwd: root,
    env: { ...process.env, ANET_NO_A2A: '1', ANET_OUT_DIR: out },
    stdio: 'ignore',
  })
  const code = readdirSync(join(out, 'chunks')).filter((name) => name.endsWith('.js'))
  expect(code.filter((name) => readFileSync(join(out, 'chunks', name), 'utf8').includes('anet-local-a2a'))).toEqual([])

  const folder = await temporaryFolder()
  const dataDir = join(folder, 'node')
  const run = (...parameters: string[]): string =>
    execFileSync(process.execPath, [join(out, 'cli/index.js'), ...parameters], {
      env: { ...process.env, ANET_DATA_DIR: dataDir },
      encoding: 'utf8',
    })
  run('init', '--secret-store', 'file', '--recovery-file', join(folder, 'recovery.txt'))
  const node = spawn(process.execPath, [join(out, 'cli/index.js'), 'up', '--foreground'], {
    env: { ...process.env, ANET_DATA_DIR: dataDir },
  })
  const ended = once(node, 'close')
  onTestFinished(async () => {
    node.kill('SIGKILL')
    await ended
  })
  let printed = ''
  for await (const chunk of node.stdout) {
    printed += String(chunk)
    if (printed.includes('Data ')) break
  }
  expect(printed).toContain('no local A2A endpoint')
  const { checks } = JSON.parse(run('doctor', '--json')) as { checks: CheckView[] }
  expect(checks.find(({ name }) => name === 'endpoint')).toMatchObject({ outcome: 'warn' })
  expect(JSON.parse(run('tasks', 'list', '--json'))).toMatchObject({ total: 0 })
  expect(run('stop')).toContain('stopped')
})
