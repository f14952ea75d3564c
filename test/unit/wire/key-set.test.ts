import { describe, expect, it } from 'vitest'
import {
  encryptionKeyAt,
  type KeySet,
  limits,
  readKeySet,
  signStatement,
  verifyHistory,
  verifyKeySet,
  verifyStoredAuthor,
} from '@shared/wire/index.ts'
import { codeOf, crypto, day, encryptionPair, KeyHolder, start } from '../../helpers/key-holder.ts'

const agent = new KeyHolder('a')
const history = verifyHistory(crypto, agent.history)

describe('a key set', () => {
  it('is read with its keys, newest first', () => {
    const keys = [encryptionPair('new', start + 7 * day).key, encryptionPair('old').key]
    expect(verifyKeySet(crypto, agent.keySet(5, keys), history)).toEqual({ aid: agent.aid, seq: 5, at: start, keys })
  })

  it('offers the newest key that is valid at the sender’s time', () => {
    const [older, newer] = [encryptionPair('old').key, encryptionPair('new', start + 7 * day).key]
    const set: KeySet = { aid: agent.aid, seq: 1, at: start, keys: [newer, older] }
    const kidAt = (now: number): string | undefined => encryptionKeyAt(set, now)?.kid
    expect(kidAt(start)).toBe(older.kid)
    expect(kidAt(start + 7 * day)).toBe(newer.kid)
    // clocks that differ by minutes do not make a new key unusable
    expect(kidAt(start + 7 * day - limits.message.futureSkew)).toBe(newer.kid)
    expect(kidAt(start + 21 * day - 1)).toBe(newer.kid)
    expect(kidAt(start + 21 * day)).toBeUndefined()
    expect(kidAt(start - day)).toBeUndefined()
  })

  it('is refused by name', () => {
    const { key } = encryptionPair('a')
    const check = (...keys: Parameters<KeyHolder['keySet']>): string | undefined =>
      codeOf(() => verifyKeySet(crypto, agent.keySet(...keys), history))
    expect(check(1, [])).toBe('statement_malformed')
    expect(check(1, Array(9).fill(key))).toBe('statement_malformed')
    expect(check(1, [key, key])).toBe('key_set_invalid')
    expect(check(1, [{ ...key, until: key.from + 15 * day }])).toBe('key_set_invalid')
    expect(check(1, [{ ...key, until: key.from }])).toBe('key_set_invalid')
    expect(check(1, [{ ...key, key: new Uint8Array(31) }])).toBe('statement_malformed')
    expect(check(1, [{ ...key, kid: 'XYZ' }])).toBe('statement_malformed')
    expect(check(-1)).toBe('statement_malformed')
    expect(check(2 ** 53)).toBe('statement_malformed')
    expect(check(1, [key], 1)).toBe('statement_bad_signature')
    expect(codeOf(() => verifyKeySet(crypto, agent.card(1), history))).toBe('statement_wrong_type')
    expect(codeOf(() => readKeySet(agent.card(1)))).toBe('statement_wrong_type')
  })

  it('is refused if it is another agent’s, whoever signed it', () => {
    const other = new KeyHolder('b')
    expect(codeOf(() => verifyKeySet(crypto, other.keySet(1), history))).toBe('statement_wrong_author')
    const value = { aid: other.aid, seq: 1, at: start, keys: [encryptionPair('a').key] }
    const stolen = signStatement(crypto, 'key-set', value, [agent.key(0)])
    expect(codeOf(() => verifyKeySet(crypto, stolen, history))).toBe('statement_wrong_author')
  })

  it('of a replaced key counts only if it was stored before', () => {
    const rotated = new KeyHolder('a')
    const before = rotated.keySet(1)
    rotated.append(rotated.rotation())
    const extended = verifyHistory(crypto, rotated.history)
    expect(codeOf(() => verifyKeySet(crypto, before, extended))).toBe('statement_bad_signature')
    expect(codeOf(() => verifyStoredAuthor(crypto, before, rotated.aid, extended))).toBeUndefined()
    expect(codeOf(() => verifyKeySet(crypto, rotated.keySet(2), extended))).toBeUndefined()
    expect(codeOf(() => verifyStoredAuthor(crypto, rotated.keySet(3, undefined, 2), rotated.aid, extended))).toBe(
      'statement_bad_signature',
    )
  })

  it('of a deactivated agent counts no more', () => {
    const ended = new KeyHolder('a')
    const set = ended.keySet(1)
    ended.append(ended.deactivation())
    expect(codeOf(() => verifyKeySet(crypto, set, verifyHistory(crypto, ended.history)))).toBe(
      'statement_bad_signature',
    )
  })
})
