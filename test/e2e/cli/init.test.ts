import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { anet, anetJson, anetScript, stopsWithTest } from '../../helpers/anet-command.ts'
import { temporaryFolder } from '../../helpers/temporary-folder.ts'

describe('anet init without a terminal', () => {
  it('ends with the three remedies when no secret store was chosen, and creates nothing', async () => {
    const dataDir = join(await temporaryFolder(), 'node')
    const { code, stderr } = await anet(['init'], { dataDir })
    expect(code).toBe(2)
    for (const kind of ['keychain', 'passphrase', 'file']) expect(stderr).toContain(`--secret-store ${kind}`)
    expect(stderr).toContain('--recovery-file PATH')
    expect(existsSync(dataDir)).toBe(false)
  })

  it('wants a file for the recovery phrase', async () => {
    const dataDir = join(await temporaryFolder(), 'node')
    const { code, stderr } = await anet(['init', '--secret-store', 'file'], { dataDir })
    expect(code).toBe(2)
    expect(stderr).toContain('--recovery-file')
    expect(existsSync(dataDir)).toBe(false)
  })

  it('writes the phrase to a new private file, warns of an unprotected key, and does it once', async () => {
    const folder = await temporaryFolder()
    const dataDir = join(folder, 'node')
    const recovery = join(folder, 'recovery.txt')
    const parameters = ['init', '--secret-store', 'file', '--recovery-file', recovery]
    const { code, stdout } = await anet(parameters, { dataDir })
    expect(code).toBe(0)
    const words = readFileSync(recovery, 'utf8').trim().split(' ')
    expect(words).toHaveLength(24)
    expect(statSync(recovery).mode & 0o777).toBe(0o600)
    expect(stdout).toMatch(/AID +bafyrei/)
    expect(stdout).toContain('Warning')
    expect(stdout).not.toContain(words.slice(0, 3).join(' '))

    expect(await anetJson(parameters, { dataDir })).toMatchObject({ error: { code: 'already_initialised' } })
    expect(readFileSync(recovery, 'utf8').trim().split(' ')).toEqual(words)
  })

  it('overwrites no file with a phrase', async () => {
    const folder = await temporaryFolder()
    const dataDir = join(folder, 'node')
    const recovery = join(folder, 'precious.txt')
    writeFileSync(recovery, 'precious')
    const { code, stderr } = await anet(['init', '--secret-store', 'file', '--recovery-file', recovery], { dataDir })
    expect(code).toBe(1)
    expect(stderr).toContain('exists already')
    expect(readFileSync(recovery, 'utf8')).toBe('precious')
    expect(existsSync(join(dataDir, 'keys'))).toBe(false)
  })

  it('takes a passphrase from a private file, and up takes it from there too', async () => {
    const folder = await temporaryFolder()
    const dataDir = join(folder, 'node')
    const passphrase = join(folder, 'passphrase')
    writeFileSync(passphrase, 'four words that nobody guesses\n', { mode: 0o600 })
    const initialise = ['init', '--secret-store', 'passphrase', '--passphrase-file', passphrase]
    const recovery = ['--recovery-file', join(folder, 'recovery.txt')]
    expect(await anet([...initialise, ...recovery], { dataDir })).toMatchObject({ code: 0 })

    expect(await anetJson(['up'], { dataDir })).toMatchObject({ error: { code: 'passphrase_needed' } })
    chmodSync(passphrase, 0o644)
    expect(await anetJson(['up', '--passphrase-file', passphrase], { dataDir })).toMatchObject({
      error: { code: 'file_open_to_others' },
    })
    chmodSync(passphrase, 0o600)
    stopsWithTest(dataDir)
    expect(await anetJson(['up', '--passphrase-file', passphrase], { dataDir })).toMatchObject({
      secretStore: 'passphrase',
    })
  })

  it('refuses a wrong passphrase', async () => {
    const folder = await temporaryFolder()
    const dataDir = join(folder, 'node')
    const passphrase = join(folder, 'passphrase')
    writeFileSync(passphrase, 'four words that nobody guesses\n', { mode: 0o600 })
    await anet(
      [
        'init',
        '--secret-store',
        'passphrase',
        '--passphrase-file',
        passphrase,
        '--recovery-file',
        join(folder, 'recovery.txt'),
      ],
      { dataDir },
    )
    const answer = await anet(['up', '--passphrase-fd', '0', '--json'], { dataDir, input: 'another passphrase\n' })
    expect(JSON.parse(answer.stdout)).toMatchObject({ error: { code: 'passphrase_wrong' } })
    expect(answer.code).toBe(1)
  })
})

describe.runIf(process.platform === 'linux')('anet init on a terminal', () => {
  it('asks for the store, shows the phrase once, and wants three of its words', async () => {
    const dataDir = join(await temporaryFolder(), 'node')
    const terminal = onTerminal(`${process.execPath} ${anetScript} init`, dataDir)
    await terminal.sees(/1, 2 or 3: $/)
    terminal.types('3\n')
    await terminal.sees(/written it down\. $/)
    const words = [...(terminal.text.split('Your recovery phrase')[1] ?? '').matchAll(/(\d+) ([a-z]+)/g)].map(
      ([, position, word]) => [Number(position), word] as const,
    )
    expect(words.filter(([, word]) => word !== undefined)).toHaveLength(24)
    terminal.types('\n')
    for (let asked = 0; asked < 3; asked += 1) {
      const [, position] = await terminal.sees(/Word (\d+): $/)
      terminal.types(`${words.find(([number]) => number === Number(position))?.[1]}\n`)
    }
    await terminal.sees(/AID +bafyrei/)
    expect(await terminal.ended).toBe(0)
    expect(existsSync(join(dataDir, 'keys'))).toBe(true)
  })

  it('creates nothing when the words are wrong', async () => {
    const dataDir = join(await temporaryFolder(), 'node')
    const terminal = onTerminal(`${process.execPath} ${anetScript} init --secret-store file`, dataDir)
    await terminal.sees(/written it down\. $/)
    terminal.types('\n')
    for (let tries = 0; tries < 3; tries += 1) {
      await terminal.sees(/Word \d+: $/)
      terminal.types('wrong\n')
    }
    expect(await terminal.ended).toBe(2)
    expect(existsSync(join(dataDir, 'keys'))).toBe(false)
  })
})

interface Terminal {
  readonly text: string
  readonly ended: Promise<number | null>
  /** Resolves when the end of what was printed since the last key matches. */
  sees(pattern: RegExp): Promise<RegExpExecArray>
  types(keys: string): void
}

/** Runs a command on a pseudo-terminal, which util-linux' `script` provides. */
function onTerminal(command: string, dataDir: string): Terminal {
  const child = spawn('script', ['--quiet', '--return', '--echo', 'never', '--command', command, '/dev/null'], {
    env: { ...process.env, ANET_DATA_DIR: dataDir, TERM: 'dumb' },
  })
  let text = ''
  let since = 0
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  const ended = once(child, 'close').then(([code]) => code as number | null)
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return {
    ended,
    get text() {
      return text
    },
    async sees(pattern) {
      for (;;) {
        const match = pattern.exec(text.slice(since))
        if (match !== null) return match
        const more = await Promise.race([once(child.stdout, 'data').then(() => true), ended.then(() => false)])
        if (!more && pattern.exec(text.slice(since)) === null) throw new Error(`The command ended before: ${text}`)
      }
    },
    types(keys) {
      since = text.length
      child.stdin.write(keys)
    },
  }
}
