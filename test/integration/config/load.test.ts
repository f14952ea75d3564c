import { chmod, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { configSchema } from '../../../src-shared/config/index.ts'
import { isAnetError } from '../../../src-shared/errors.ts'
import { loadConfig } from '../../../src-main/node/config/index.ts'
import { temporaryFolder } from '../../helpers/temporary-folder.ts'

let dataDir: string
let path: string

beforeEach(async () => {
  dataDir = await temporaryFolder()
  path = join(dataDir, 'config.json')
})

/** The error of a configuration; the file must be as it was afterwards. */
async function refusal(text: string | Uint8Array) {
  await writeFile(path, text)
  const error: unknown = await loadConfig(dataDir).catch((refused: unknown) => refused)
  expect(Buffer.compare(await readFile(path), Buffer.from(text as string))).toBe(0)
  expect(await readdir(dataDir)).toEqual(['config.json'])
  if (!isAnetError(error, 'config_invalid')) throw error
  expect(error.message).toContain(path)
  expect(error.remedy).toContain('Nothing was overwritten')
  return error
}

test('without a file every key has its default, and no file is made', async () => {
  const config = await loadConfig(dataDir)
  expect(config).toEqual(configSchema.parse({}))
  expect(config).toMatchObject({ inbound: { policy: 'closed' }, modules: { a2a: { enabled: true, backends: [] } } })
  expect(await readdir(dataDir)).toEqual([])
})

test('what an editor saves is read: mode 0644, a byte order mark, Windows lines', async () => {
  await writeFile(path, '\uFEFF{\r\n  "inbound": { "policy": "open" }\r\n}\r\n')
  await chmod(path, 0o644)
  expect(await loadConfig(dataDir)).toMatchObject({ inbound: { policy: 'open' } })
})

test('a file that others may write, or a link, is refused', async () => {
  await writeFile(path, '{}')
  await chmod(path, 0o666)
  await expect(loadConfig(dataDir)).rejects.toMatchObject({ code: 'file_open_to_others' })
  const other = await temporaryFolder()
  await symlink(path, join(other, 'config.json'))
  await expect(loadConfig(other)).rejects.toMatchObject({ code: 'file_symlink' })
})

describe('a file that is not JSON is refused with line and column', () => {
  test.each([
    ['a comma after the last entry', '{\n  "log": {},\n}', 3, 'no comma after the last entry'],
    ['a missing comma', '{\n  "log": {}\n  "hub": {}\n}', 3, 'a comma is missing'],
    ['a comment', '{\n  // mine\n}', 2, 'no comments'],
    ['a missing brace', '{\n  "log": {\n', 3, 'brace'],
    ['an open text', '{\n  "log": "x\n}', 2, 'closing quote'],
    ['a word', '{ "log": yes }', 1, 'double quotes'],
    ['single quotes', "{ 'log': {} }", 1, 'double quotes'],
    ['an empty file', '', 1, 'empty configuration is {}'],
    ['something after the end', '{}\n{}', 2, 'nothing may follow'],
    ['a key that is there twice', '{\n  "log": {},\n  "log": {}\n}', 3, '"log" is there twice'],
  ])('%s', async (_, text, line, reason) => {
    const error = await refusal(text)
    expect(error.message).toContain(`line ${line}, column`)
    expect(error.message).toContain(reason)
    expect(error.details).toMatchObject({ line })
  })

  test('other text than UTF-8', async () => {
    expect((await refusal(Uint8Array.from([0x7b, 0xff, 0x7d]))).message).toContain('not UTF-8')
  })
})

describe('a key that is not known is named with the nearest one', () => {
  test.each([
    ['{\n  "inbuond": {}\n}', 2, '"inbuond"', 'Did you mean "inbound"?'],
    ['{\n  "inbound": {\n    "polcy": "open"\n  }\n}', 3, '"inbound.polcy"', 'Did you mean "policy"?'],
    [
      '{\n  "modules": {\n    "a2a": {\n      "backends": [\n        { "match": "x", "url": "unix:///s", "tokn_file": "t" }\n      ]\n    }\n  }\n}',
      5,
      '"modules.a2a.backends[0].tokn_file"',
      'Did you mean "token_file"?',
    ],
    ['{\n\n  "trust": []\n}', 3, '"trust"', 'Did you mean "peers.trust"?'],
  ])('%j', async (text, line, key, hint) => {
    const error = await refusal(text)
    expect(error.message).toContain(`line ${line}: ${key} is not a key that ANet knows. ${hint}`)
  })

  test('or without one, if nothing comes near', async () => {
    const error = await refusal('{ "zzzz": 1 }')
    expect(error.message).not.toContain('Did you mean')
    expect(error.remedy).toContain('Remove it')
  })
})

describe('a value that is not allowed is named with what was found', () => {
  test.each([
    [
      '{\n  "inbound": {\n    "policy": "opne"\n  }\n}',
      3,
      '"inbound.policy"',
      ['"closed"|"approve"|"open"', 'It is "opne"'],
    ],
    [
      '{\n  "modules": { "a2a": {\n    "enabled": "yes" } }\n}',
      3,
      '"modules.a2a.enabled"',
      ['expected boolean', 'It is "yes"'],
    ],
    ['{\n  "no_response_after": "5 minutes"\n}', 2, '"no_response_after"', ['not a duration', 'It is "5 minutes"']],
    ['{\n  "hub": {\n    "url": "http://127.0.0.1:1" }\n}', 2, '"hub.aid"', ['It is missing']],
    [
      '{\n  "modules": { "a2a": { "backends": [\n    { "match": "*",\n      "url": "http://127.0.0.1:9" } ] } }\n}',
      4,
      '"modules.a2a.backends[0].url"',
      ['allow_tcp'],
    ],
    ['[]', 1, 'the configuration', ['expected object']],
  ])('%j', async (text, line, key, parts) => {
    const error = await refusal(text)
    expect(error.message).toContain(`line ${line}: ${key}`)
    for (const part of parts) expect(error.message).toContain(part)
    expect(error.details).toMatchObject({ line })
  })

  test('and all of them at once, in the order of the lines', async () => {
    const error = await refusal('{\n  "log": { "level": "loud" },\n  "hbu": {},\n  "skills": 3\n}')
    expect(error.message).toContain('line 2')
    expect(error.details?.['problems']).toMatchObject([
      { key: 'log.level', line: 2 },
      { key: 'hbu', line: 3 },
      { key: 'skills', line: 4 },
    ])
  })
})
