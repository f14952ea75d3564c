import { describe, expect, it } from 'vitest'
import { newRecoveryPhrase, nextKeySeed, recoverySeed } from '../../../src-main/node/secrets/index.ts'
import { phraseSlotKey } from '../../../src-main/node/secrets/recovery-phrase.ts'

const known = `${'abandon '.repeat(23)}art`

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

describe('the recovery phrase', () => {
  it('has 24 words that are new each time and check themselves', async () => {
    const phrases = [newRecoveryPhrase(), newRecoveryPhrase()]
    expect(phrases.map((phrase) => phrase.split(' ').length)).toEqual([24, 24])
    expect(phrases[0]).not.toBe(phrases[1])
    expect((await recoverySeed(phrases[0] ?? '')).byteLength).toBe(64)
  })

  it('gives the seed that BIP-39 gives', async () => {
    // "abandon … art" without a BIP-39 passphrase
    expect(hex(await recoverySeed(known))).toBe(
      '408b285c123836004f4b8842c89324c1f01382450c0d439af345ba7fc49acf70' +
        '5489c6fc77dbd4e3dc1dd8cc6bc9f043db8ada1e243c4a0eafb290d399480840',
    )
  })

  it('does not mind case and spaces', async () => {
    const typed = `  ${known.toUpperCase().replaceAll(' ', '\n  ')}\t`
    expect(hex(await recoverySeed(typed))).toBe(hex(await recoverySeed(known)))
  })

  it.each([
    ['another number of words', 'abandon '.repeat(23)],
    ['words of another list', known.replace('art', 'kunst')],
    ['a wrong check word', known.replace('art', 'zoo')],
    ['nothing', ''],
  ])('is refused with %s', async (_name, phrase) => {
    await expect(recoverySeed(phrase)).rejects.toMatchObject({ code: 'recovery_phrase_invalid' })
  })

  it('gives each next key and the slot a key of their own', async () => {
    const seed = await recoverySeed(known)
    const keys = [1, 2, 3, 255].map((n) => hex(nextKeySeed(seed, n)))
    expect(new Set([...keys, hex(phraseSlotKey(seed))]).size).toBe(5)
    expect(nextKeySeed(seed, 1)).toEqual(nextKeySeed(seed, 1))
    expect(nextKeySeed(seed, 1).byteLength).toBe(32)
  })
})
