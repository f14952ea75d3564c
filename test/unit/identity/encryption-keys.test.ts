import { describe, expect, it } from 'vitest'
import { readKeySet } from '@shared/wire/index.ts'
import {
  newEncryptionKey,
  type OwnEncryptionKey,
  renewEncryptionKeys,
  signKeySet,
} from '../../../src-main/node/identity/encryption-keys.ts'
import { crypto, day, KeyHolder, start } from '../../helpers/key-holder.ts'

const agent = new KeyHolder('a')

/** The keys of a node that looks at them every `step` ms until `until`. */
function keysAfter(until: number, step: number): OwnEncryptionKey[] {
  let keys = [newEncryptionKey(crypto, start)]
  for (let now = start; now <= until; now += step) keys = renewEncryptionKeys(crypto, keys, now) ?? keys
  return keys
}

describe('encryption keys', () => {
  it('are renewed after 7 days, not before', () => {
    const keys = [newEncryptionKey(crypto, start)]
    expect(renewEncryptionKeys(crypto, keys, start + 7 * day - 1)).toBeUndefined()
    const renewed = renewEncryptionKeys(crypto, keys, start + 7 * day)
    expect(renewed?.map(({ from, until }) => [from, until])).toEqual([
      [start + 7 * day, start + 21 * day],
      [start, start + 14 * day],
    ])
  })

  it('lose their private half 15 days after their end', () => {
    const first = newEncryptionKey(crypto, start)
    const newest = newEncryptionKey(crypto, start + 28 * day)
    expect(renewEncryptionKeys(crypto, [newest, first], start + 29 * day - 1)).toBeUndefined()
    expect(renewEncryptionKeys(crypto, [newest, first], start + 29 * day)).toEqual([newest])
  })

  it('stay few over the years', () => {
    const keys = keysAfter(start + 365 * day, day / 2)
    expect(keys.map(({ from }) => (from - start) / day)).toEqual([364, 357, 350, 343])
  })

  it('get a successor at once if the clock was in the future when they were made', () => {
    const wrong = newEncryptionKey(crypto, start + 300 * day)
    const [newest, kept] = renewEncryptionKeys(crypto, [wrong], start) ?? []
    expect(newest?.from).toBe(start)
    expect(kept).toBe(wrong)
    const set = readKeySet(signKeySet(crypto, agent.key(0), [newest ?? wrong, wrong], start + 300 * day, start))
    expect(set.keys.map(({ kid }) => kid)).toEqual([newest?.kid])
    // the seq does not fall with the clock
    expect(set.seq).toBe(start + 300 * day + 1)
  })

  it('are published while they are valid, newest first, without their private halves', () => {
    const keys = keysAfter(start + 16 * day, day)
    expect(keys).toHaveLength(3)
    const signed = signKeySet(crypto, agent.key(0), keys, start, start + 16 * day)
    const set = readKeySet(signed)
    expect(set.keys.map(({ from }) => from)).toEqual([start + 14 * day, start + 7 * day])
    expect(set.seq).toBe(start + 16 * day)
    for (const { privateKey } of keys) expect(Buffer.from(signed.v).includes(Buffer.from(privateKey))).toBe(false)
  })
})
