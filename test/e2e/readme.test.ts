import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { taskSchema } from '@shared/a2a/index.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { descendants, type RunningDemo, startDemo } from '../helpers/demo.ts'
import { asReader, codeBlocks, page, repository } from '../helpers/page-commands.ts'
import { temporaryFolder } from '../helpers/temporary-folder.ts'

const run = promisify(execFile)
const readme = page('README.md')
const commands = codeBlocks(readme, 'sh')
const { scripts, bin } = JSON.parse(page('package.json')) as {
  scripts: Record<string, string>
  bin: Record<string, string>
}

let demo: RunningDemo
beforeAll(async () => {
  const start = commands.find((block) => block.includes('npm run demo'))?.trim()
  // the tests have run `npm ci` already, or they would not run
  expect(start).toBe('npm ci && npm run demo')
  demo = await startDemo({ command: ['npm', 'run', 'demo', '--'] })
})
afterAll(async () => {
  await demo?.stop()
})

/** What the pattern's group holds in the text of the demo. */
const printed = async (pattern: RegExp): Promise<string> => {
  // its ready file comes before its text
  await expect.poll(() => demo.output(), { timeout: 20_000 }).toMatch(pattern)
  return pattern.exec(demo.output())?.[1] ?? ''
}

test('every npm script that the page names exists, and the demo is the one of the command line', () => {
  const named = [...readme.matchAll(/npm (?:run ([\w:]+)|(start|test)\b)/g)].map(([, script, short]) => script ?? short)
  expect(named).toEqual(expect.arrayContaining(['start', 'demo', 'test', 'lint', 'typecheck', 'bench']))
  for (const script of named) expect(Object.keys(scripts)).toContain(script)
  expect(scripts['demo']).toBe(`node ${bin['anet']} demo`)
})

test('the commands of the first task run as printed, with the directory that the demo prints', async () => {
  const dataDir = await printed(/export ANET_DATA_DIR=(\S+)/)
  expect(dataDir).toBe(demo.ready.dataDir)
  const block = commands.find((text) => text.includes('npx anet')) ?? ''
  // the page names the demo's own directory; this demo has another one
  expect(block).toContain('export ANET_DATA_DIR=~/.anet-demo/operator\n')
  const output = await asReader(block.replace('~/.anet-demo/operator', dataDir), {
    // npx keeps a link to this directory in its cache
    env: { npm_config_cache: await temporaryFolder() },
    fill: { aid: demo.agent('Echo').aid },
  })
  for (const name of ['Echo', 'Asker', 'Summariser']) expect(output).toContain(name)
  expect(output.match(/Hello from the other side of a hub\./g)?.length).toBeGreaterThanOrEqual(2)
  expect(output).toMatch(/completed/i)
})

test('what the demo prints to try runs as printed', async () => {
  await printed(/(Stop it with Ctrl\+C)/)
  const tried = /Try it, in bash or zsh:\n([\s\S]*?)\nMore is in/.exec(demo.output())?.[1] ?? ''
  const output = await asReader(tried)
  for (const { aid } of demo.ready.agents) expect(output).toContain(aid)
  expect(output).toContain('"supportedInterfaces"')
  expect(output).toContain('TASK_STATE_COMPLETED')
})

test('the program of the page type-checks, and reaches an agent with its URL and the token', async () => {
  const [program = ''] = codeBlocks(readme, 'ts')
  const dir = await temporaryFolder()
  await mkdir(join(dir, 'src'))
  await symlink(resolve(repository, 'node_modules'), join(dir, 'node_modules'))
  await writeFile(join(dir, 'package.json'), '{"type": "module"}')
  await writeFile(
    join(dir, 'src', 'program.ts'),
    [
      "import { Task } from '@a2a-js/sdk'",
      "const [url, token] = [process.env['AGENT_URL'], process.env['AGENT_TOKEN']]",
      program,
      "if ('status' in task) console.log(JSON.stringify(Task.toJSON(task)))",
    ].join('\n'),
  )
  const compilerOptions = {
    target: 'es2023',
    module: 'nodenext',
    strict: true,
    skipLibCheck: true,
    noEmitOnError: true,
    types: ['node'],
    rootDir: 'src',
    outDir: 'out',
  }
  await writeFile(join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['src'] }))
  const tsc = resolve(repository, 'node_modules/typescript/bin/tsc')
  const compiled = await run(process.execPath, [tsc, '-p', dir]).catch((error: { stdout: string }) => error)
  expect(compiled.stdout).toBe('')
  const env = { ...process.env, AGENT_URL: demo.agent('Echo').url, AGENT_TOKEN: demo.token() }
  const { stdout } = await run(process.execPath, [join(dir, 'out', 'program.js')], { env })
  expect(taskSchema.parse(JSON.parse(stdout))).toMatchObject({
    status: { state: 'TASK_STATE_COMPLETED' },
    artifacts: [{ parts: [{ text: 'Hello' }] }, {}],
  })
})

test('Ctrl+C in its terminal ends every process of it', async () => {
  const processes = descendants(demo.process.pid ?? 0)
  expect(processes.length).toBeGreaterThan(6)
  await demo.stop()
  await expect.poll(() => processes.filter(isAlive), { timeout: 15_000 }).toEqual([])
})

/** False for a zombie too: it has no command line any more. */
function isAlive(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`).length > 0
  } catch {
    return false
  }
}
