import { hkdfSync } from 'node:crypto'
import { generateMnemonic, mnemonicToSeed, validateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import { AnetError } from '@shared/errors.ts'
import { encodeCbor } from '@shared/wire/index.ts'

const bits = 256

/** A new recovery phrase: 24 English words of BIP-39, 256 random bits. Shown once, never stored. */
export function newRecoveryPhrase(): string {
  return generateMnemonic(wordlist, bits)
}

/**
 * The 64-byte BIP-39 seed of a phrase, without a BIP-39 passphrase. Case and spaces do not matter. A phrase of other
 * words or with a wrong check word is `recovery_phrase_invalid`.
 */
export async function recoverySeed(phrase: string): Promise<Uint8Array> {
  const words = phrase.trim().toLowerCase().split(/\s+/)
  const text = words.join(' ')
  if (words.length !== 24 || !validateMnemonic(text, wordlist)) {
    throw new AnetError('recovery_phrase_invalid', 'This is not a recovery phrase: 24 words of the English list.', {
      remedy: 'Look for a misspelt, missing or exchanged word.',
    })
  }
  return new Uint8Array(await mnemonicToSeed(text))
}

/** Ed25519 seed of next key `n`: the one that statement number `n` of the key history reveals (n ≥ 1). */
export function nextKeySeed(seed: Uint8Array, n: number): Uint8Array {
  return derive(seed, ['anet/next', n])
}

/** The key of the key file's second slot. */
export function phraseSlotKey(seed: Uint8Array): Uint8Array {
  return derive(seed, ['anet/key-slot'])
}

/** HKDF-SHA256 (RFC 5869) without salt; `info` is canonical DAG-CBOR. 32 bytes. */
function derive(seed: Uint8Array, info: readonly (string | number)[]): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', seed, new Uint8Array(0), encodeCbor(info), 32))
}
