import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../../..')
const bin = (name: string): string => join(root, 'node_modules/.bin', name)

// What each layer offers in the small copy of the tree below: enough to be imported.
const tree: Record<string, string> = {
  'src-shared/errors.ts': 'export const shared = 1\n',
  'src-shared/wire/index.ts': "export { cid } from './cid.ts'\n",
  'src-shared/wire/cid.ts': 'export const cid = 1\n',
  'src-main/node/ports.ts': 'export const ports = 1\n',
  'src-main/node/node.ts': 'export const node = 1\n',
  ...Object.fromEntries(
    ['data-dir', 'secrets', 'store', 'identity', 'network', 'tasks', 'api', 'control', 'modules/a2a'].flatMap(
      (floor) => [
        [`src-main/node/${floor}/index.ts`, "export { inner } from './inner.ts'\n"],
        [`src-main/node/${floor}/inner.ts`, 'export const inner = 1\n'],
      ],
    ),
  ),
  'src-main/cli/index.ts': 'export const cli = 1\n',
  'src-main/demo/index.ts': 'export const demo = 1\n',
  'src-main/index.ts': 'export const main = 1\n',
  'src-main/preload.ts': 'export const preload = 1\n',
  'src-main/desktop/window.ts': 'export const desktop = 1\n',
  'src-main/desktop/channels.ts': 'export const channels = 1\n',
  'src-hub/index.ts': 'export const hub = 1\n',
  'src-hub/hub.ts': 'export const hub = 1\n',
  'src-renderer/main.ts': 'export const renderer = 1\n',
  'test/unit/a.ts': 'export const a = 1\n',
}

type Caught = 'lint' | 'tsc'
interface Forbidden {
  readonly file: string
  readonly code: string
  /** Who must catch it; tsc cannot tell the floors of the node apart. */
  readonly by: readonly Caught[]
}

const both = ['lint', 'tsc'] as const
const imports = (what: string, from: string): string =>
  `import { ${what} } from '${from}'\nexport const used = ${what}\n`

const forbidden: readonly Forbidden[] = [
  { file: 'src-shared/uses-node.ts', code: imports('readFile', 'node:fs/promises'), by: both },
  { file: 'src-shared/uses-main.ts', code: imports('ports', '../src-main/node/ports.ts'), by: both },
  { file: 'src-shared/uses-hub.ts', code: imports('hub', '../src-hub/index.ts'), by: both },
  { file: 'src-shared/uses-dom.ts', code: 'export const title = document.title\n', by: ['tsc'] },
  { file: 'src-shared/uses-process.ts', code: 'export const pid = process.pid\n', by: ['tsc'] },
  { file: 'src-main/node/uses-electron.ts', code: imports('app', 'electron'), by: both },
  { file: 'src-main/node/network/uses-electron.ts', code: imports('app', 'electron'), by: both },
  { file: 'src-main/node/uses-hub.ts', code: imports('hub', '../../src-hub/index.ts'), by: both },
  { file: 'src-main/node/uses-cli.ts', code: imports('cli', '../cli/index.ts'), by: both },
  { file: 'src-main/node/tasks/uses-desktop.ts', code: imports('desktop', '../../desktop/window.ts'), by: both },
  { file: 'src-main/node/data-dir/uses-store.ts', code: imports('inner', '../store/index.ts'), by: ['lint'] },
  { file: 'src-main/node/secrets/uses-store.ts', code: imports('inner', '../store/index.ts'), by: ['lint'] },
  { file: 'src-main/node/store/uses-network.ts', code: imports('inner', '../network/index.ts'), by: ['lint'] },
  { file: 'src-main/node/identity/uses-tasks.ts', code: imports('inner', '../tasks/index.ts'), by: ['lint'] },
  { file: 'src-main/node/network/deep/uses-tasks.ts', code: imports('inner', '../../tasks/index.ts'), by: ['lint'] },
  { file: 'src-main/node/tasks/uses-api.ts', code: imports('inner', '../api/index.ts'), by: ['lint'] },
  { file: 'src-main/node/tasks/uses-root.ts', code: imports('node', '../node.ts'), by: ['lint'] },
  { file: 'src-main/node/tasks/uses-module.ts', code: imports('inner', '../modules/a2a/index.ts'), by: ['lint'] },
  { file: 'src-main/node/api/uses-control.ts', code: imports('inner', '../control/index.ts'), by: ['lint'] },
  { file: 'src-main/node/modules/a2a/uses-control.ts', code: imports('inner', '../../control/index.ts'), by: ['lint'] },
  { file: 'src-main/node/control/uses-module.ts', code: imports('inner', '../modules/a2a/index.ts'), by: ['lint'] },
  // a folder's index.ts is its door, for values, types, re-exports and dynamic imports alike
  { file: 'src-main/node/tasks/past-a-door.ts', code: imports('inner', '../store/inner.ts'), by: ['lint'] },
  {
    file: 'src-main/node/modules/a2a/past-a-door.ts',
    code: "export type { inner } from '../../tasks/inner.ts'\n",
    by: ['lint'],
  },
  {
    file: 'src-main/node/network/past-a-door.ts',
    code: "export const used = import('../identity/inner.ts')\n",
    by: ['lint'],
  },
  { file: 'src-main/node/store/past-the-shared-door.ts', code: imports('cid', '@shared/wire/cid.ts'), by: ['lint'] },
  { file: 'src-main/cli/past-the-hubs-door.ts', code: imports('hub', '../../src-hub/hub.ts'), by: ['lint'] },
  { file: 'src-main/cli/uses-electron.ts', code: imports('app', 'electron'), by: both },
  { file: 'src-main/cli/uses-desktop.ts', code: imports('desktop', '../desktop/window.ts'), by: both },
  { file: 'src-main/demo/uses-cli.ts', code: imports('cli', '../cli/index.ts'), by: both },
  { file: 'src-hub/uses-node.ts', code: imports('ports', '../src-main/node/ports.ts'), by: both },
  { file: 'src-hub/uses-electron.ts', code: imports('app', 'electron'), by: both },
  { file: 'src-renderer/uses-node.ts', code: imports('ports', '../src-main/node/ports.ts'), by: both },
  { file: 'src-renderer/uses-node-api.ts', code: imports('readFile', 'node:fs/promises'), by: both },
  { file: 'src-main/desktop/uses-ipc.ts', code: imports('ipcMain', 'electron'), by: ['lint'] },
]

const allowed: Record<string, string> = {
  'src-main/node/store/fine.ts':
    imports('shared', '@shared/errors.ts') + "export { inner } from '../data-dir/index.ts'\n",
  'src-main/node/tasks/fine.ts':
    imports('inner', '../store/index.ts') + "export { cid } from '@shared/wire/index.ts'\n",
  'src-main/node/modules/a2a/deep/fine.ts': imports('inner', '../../../tasks/index.ts'),
  'src-main/node/start.ts': imports('inner', './modules/a2a/index.ts') + "export { inner } from './api/index.ts'\n",
  'src-main/cli/fine.ts': imports('hub', '../../src-hub/index.ts') + "export { node } from '../node/node.ts'\n",
  'src-hub/fine.ts': imports('shared', '@shared/errors.ts') + "export { readFile } from 'node:fs/promises'\n",
  'src-renderer/fine.ts': imports('shared', '@shared/errors.ts'),
  'src-main/desktop/ipc.ts': imports('ipcMain', 'electron'),
}

// the others build on these and add the types of the test tools, which take their time
const layers = ['shared', 'node', 'hub', 'demo', 'cli', 'renderer']

/** Lint and compiler messages by the file they are about, from one run of each over the whole copy. */
const messages: Record<Caught, string[]> = { lint: [], tsc: [] }
let dir = ''

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'anet-layers-'))
  for (const name of ['.oxlintrc.json', 'tsconfig', 'tsconfig.json', 'package.json']) {
    cpSync(join(root, name), join(dir, name), { recursive: true })
  }
  symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'))
  const files = { ...tree, ...allowed, ...Object.fromEntries(forbidden.map(({ file, code }) => [file, code])) }
  for (const [file, code] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, file)), { recursive: true })
    writeFileSync(join(dir, file), code)
  }
  const [lint, tsc] = await Promise.all([
    outputOf(bin('oxlint'), ['--format', 'json', 'src-shared', 'src-main', 'src-hub', 'src-renderer']),
    outputOf(bin('tsc'), ['-b', '--force', '--pretty', 'false', ...layers.map((layer) => `tsconfig/${layer}.json`)]),
  ])
  const { diagnostics } = JSON.parse(lint) as { diagnostics: { code?: string; filename: string }[] }
  messages.lint = diagnostics
    .filter(({ code }) => code?.includes('no-restricted-imports'))
    .map(({ filename }) => filename)
  messages.tsc = tsc.split('\n').flatMap((line) => /^(\S+)\(\d+,\d+\): error/.exec(line)?.[1] ?? [])
}, 120_000)

afterAll(() => rmSync(dir, { recursive: true, force: true }))

async function outputOf(command: string, parameters: string[]): Promise<string> {
  try {
    return (await promisify(execFile)(command, parameters, { cwd: dir, maxBuffer: 64 * 1024 * 1024 })).stdout
  } catch (error) {
    // both end with 1 when they find something, which is what they are to do here
    return (error as { stdout: string }).stdout
  }
}

describe('layers', () => {
  it.each(forbidden.flatMap(({ file, by }) => by.map((tool) => ({ file, tool }))))(
    '$tool refuses $file',
    ({ file, tool }) => {
      expect(messages[tool]).toContain(file)
    },
  )

  it.each(Object.keys(allowed))('both accept %s', (file) => {
    expect(messages.lint).not.toContain(file)
    expect(messages.tsc).not.toContain(file)
  })

  it('says nothing about the rest of the tree', () => {
    const offending = new Set(forbidden.map(({ file }) => file))
    expect(messages.lint.filter((file) => !offending.has(file))).toEqual([])
    expect(messages.tsc.filter((file) => !offending.has(file))).toEqual([])
  })
})
