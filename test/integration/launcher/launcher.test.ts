import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../../..')

// Stands in for the bundler: copies the one source file, says in a log that it ran, and waits while "hold" is there.
const builder = `
import { appendFileSync, copyFileSync, existsSync, mkdirSync, readFileSync, watch } from 'node:fs'
appendFileSync('builds.log', 'built\\n')
if (existsSync('hold')) await new Promise((done) => watch('.', () => existsSync('hold') || done()))
if (readFileSync('src-main/cli/index.ts', 'utf8').includes('broken')) process.exit(1)
mkdirSync(process.env.ANET_OUT_DIR + '/cli', { recursive: true })
copyFileSync('src-main/cli/index.ts', process.env.ANET_OUT_DIR + '/cli/index.js')
`

let tree = ''
const children: ChildProcess[] = []

function put(path: string, content: string): void {
  mkdirSync(dirname(join(tree, path)), { recursive: true })
  writeFileSync(join(tree, path), content)
}

beforeEach(() => {
  tree = mkdtempSync(join(tmpdir(), 'anet-launcher-'))
  cpSync(join(root, 'bin/anet.mjs'), join(tree, 'bin/anet.mjs'))
  cpSync(join(root, 'build/output.mjs'), join(tree, 'build/output.mjs'))
  put('package.json', '{"type": "module"}')
  put('src-main/cli/index.ts', "console.log('one', process.argv.slice(2).join(' '))")
  put('node_modules/electron-vite/bin/electron-vite.js', builder)
  put('node_modules/electron-vite/package.json', '{"type": "module"}')
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  rmSync(tree, { recursive: true, force: true })
})

const anet = (...parameters: string[]): ReturnType<typeof spawnSync> =>
  spawnSync(process.execPath, [join(tree, 'bin/anet.mjs'), ...parameters], { encoding: 'utf8' })
const builds = (): number =>
  existsSync(join(tree, 'builds.log')) ? readFileSync(join(tree, 'builds.log'), 'utf8').split('\n').length - 1 : 0

it('builds when there is no output, keeps stdout for the command, and builds no second time', () => {
  const first = anet('status', '--json')
  expect(first).toMatchObject({ status: 0, stdout: 'one status --json\n' })
  expect(first.stderr).toContain('building')
  expect(anet('again')).toMatchObject({ status: 0, stdout: 'one again\n', stderr: '' })
  expect(builds()).toBe(1)
})

it('builds again after a source changed, came or went', () => {
  anet()
  put('src-main/cli/index.ts', "console.log('another text')")
  expect(anet().stdout).toBe('another text\n')
  put('src-shared/new.ts', 'export {}')
  anet()
  expect(builds()).toBe(3)
  rmSync(join(tree, 'src-shared/new.ts'))
  anet()
  expect(builds()).toBe(4)
})

it('keeps the old output and fails when the sources do not build', () => {
  anet()
  put('src-main/cli/index.ts', 'broken')
  expect(anet()).toMatchObject({ status: 2, stdout: '' })
  expect(readFileSync(join(tree, 'out/cli/index.js'), 'utf8')).toContain('one')
})

it('says what to do when the dependencies are missing', () => {
  rmSync(join(tree, 'node_modules'), { recursive: true })
  const { status, stderr } = anet()
  expect(status).toBe(2)
  expect(stderr).toContain('npm ci')
})

it('runs from a package, which has no sources', () => {
  anet()
  rmSync(join(tree, 'src-main'), { recursive: true })
  rmSync(join(tree, 'build'), { recursive: true })
  expect(anet('x')).toMatchObject({ status: 0, stdout: 'one x\n' })
})

it('lets one of two build while the other waits', async () => {
  put('hold', '')
  const [first, second] = [start('first'), start('second')]
  // one builds and one has said that it waits: both are where they shall be
  await said(() => builds() === 1 && [first, second].some(({ stderr }) => stderr.includes('waiting')))
  rmSync(join(tree, 'hold'))
  await Promise.all([first.ended, second.ended])
  expect([first.stdout, second.stdout]).toEqual(['one first\n', 'one second\n'])
  expect(builds()).toBe(1)
})

it('breaks the lock of a process that is gone', async () => {
  const gone = spawn(process.execPath, ['-e', ''])
  await once(gone, 'exit')
  put('.cache/build.lock', String(gone.pid))
  expect(anet('x')).toMatchObject({ status: 0, stdout: 'one x\n' })
  expect(existsSync(join(tree, '.cache/build.lock'))).toBe(false)
})

interface Started {
  stdout: string
  stderr: string
  readonly ended: Promise<unknown>
}

function start(parameter: string): Started {
  const child = spawn(process.execPath, [join(tree, 'bin/anet.mjs'), parameter], { stdio: ['ignore', 'pipe', 'pipe'] })
  children.push(child)
  const started: Started = { stdout: '', stderr: '', ended: once(child, 'close') }
  child.stdout.on('data', (chunk: Buffer) => (started.stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (started.stderr += chunk.toString()))
  child.stderr.on('data', () => tree !== '' && put('.heard', String(started.stderr.length)))
  return started
}

/** Waits for a condition that changes with the files of the tree. */
async function said(condition: () => boolean): Promise<void> {
  const watcher = watch(tree)
  try {
    while (!condition()) await once(watcher, 'change')
  } finally {
    watcher.close()
  }
}
