import { randomBytes, scrypt } from 'node:crypto'
import { read } from 'node:fs'
import { promisify } from 'node:util'
import { z } from 'zod'
import { AnetError } from '@shared/errors.ts'
import { bytesSchema } from '@shared/wire/index.ts'
import { readPrivateFile } from '../data-dir/index.ts'
import { openBox, sealBox, sealedBoxSchema } from './sealed-box.ts'
import type { PassphraseSource } from './types.ts'

const maxPassphraseBytes = 1024
const minPassphraseLength = 8

/** The wrapping key, sealed under a key that scrypt (RFC 7914) makes of the passphrase. */
export const passphraseSlotSchema = z.object({
  kind: z.literal('passphrase'),
  salt: bytesSchema.refine((salt) => salt.byteLength === 16, 'must have 16 bytes'),
  logN: z.int().min(14).max(20),
  r: z.int().min(1).max(16),
  p: z.int().min(1).max(4),
  box: sealedBoxSchema,
})
export type PassphraseSlot = z.infer<typeof passphraseSlotSchema>

const cost = { logN: 17, r: 8, p: 1 } as const

/** Errors: `passphrase_too_short`, `passphrase_too_long`. */
export function checkNewPassphrase(passphrase: string): void {
  if (passphrase.normalize('NFKC').length < minPassphraseLength) {
    throw new AnetError('passphrase_too_short', `A passphrase has at least ${minPassphraseLength} characters.`, {
      remedy: 'Choose a longer one: several random words are easy to keep.',
    })
  }
  if (Buffer.byteLength(passphrase) > maxPassphraseBytes) throw tooLong()
}

export async function sealWithPassphrase(
  passphrase: string,
  place: readonly string[],
  wrappingKey: Uint8Array,
): Promise<PassphraseSlot> {
  const salt = new Uint8Array(randomBytes(16))
  const key = await stretch(passphrase, { salt, ...cost })
  return { kind: 'passphrase', salt, ...cost, box: sealBox(key, place, wrappingKey) }
}

/** Undefined if the passphrase is another one. */
export async function openWithPassphrase(
  passphrase: string,
  place: readonly string[],
  slot: PassphraseSlot,
): Promise<Uint8Array | undefined> {
  return openBox(await stretch(passphrase, slot), place, slot.box)
}

const scryptAsync = promisify<string, Uint8Array, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scrypt,
)

async function stretch(
  passphrase: string,
  { salt, logN, r, p }: Pick<PassphraseSlot, 'salt' | 'logN' | 'r' | 'p'>,
): Promise<Uint8Array> {
  const N = 2 ** logN
  // 128·N·r bytes of table and a little more; Node's default of 32 MiB refuses N = 2^17
  return await scryptAsync(passphrase.normalize('NFKC'), salt, 32, { N, r, p, maxmem: 128 * N * r + 8 * 1024 * 1024 })
}

/** Reads a passphrase from a private file (0600, this user's): its first line. */
export function passphraseFromFile(path: string): PassphraseSource {
  return async () => {
    const bytes = await readPrivateFile(path, { maxBytes: maxPassphraseBytes })
    if (bytes === undefined) throw new AnetError('passphrase_missing', `There is no passphrase file ${path}.`)
    return firstLine(Buffer.from(bytes), path)
  }
}

/** Reads a passphrase from an open file descriptor, up to the end of its first line. */
export function passphraseFromDescriptor(fd: number): PassphraseSource {
  return async () => {
    const chunks: Buffer[] = []
    for (let size = 0; size <= maxPassphraseBytes;) {
      const { bytesRead, buffer } = await readSome(fd, Buffer.alloc(256))
      const chunk = buffer.subarray(0, bytesRead)
      chunks.push(chunk)
      size += bytesRead
      if (bytesRead === 0 || chunk.includes(0x0a)) return firstLine(Buffer.concat(chunks), `file descriptor ${fd}`)
    }
    throw tooLong()
  }
}

function readSome(fd: number, buffer: Buffer): Promise<{ bytesRead: number; buffer: Buffer }> {
  return new Promise((resolve, reject) => {
    read(fd, buffer, 0, buffer.byteLength, null, (error, bytesRead) => {
      if (error === null) resolve({ bytesRead, buffer })
      else if (error.code === 'EAGAIN') setImmediate(() => resolve(readSome(fd, buffer)))
      else {
        reject(
          new AnetError('passphrase_missing', `The passphrase cannot be read from file descriptor ${fd}.`, {
            remedy: 'Open it for reading: anet up --passphrase-fd 3 3<file',
            cause: error,
          }),
        )
      }
    })
  })
}

function firstLine(bytes: Buffer, from: string): string {
  const line = bytes.toString('utf8').split(/\r?\n/, 1)[0] ?? ''
  if (line === '') throw new AnetError('passphrase_missing', `There is no passphrase in ${from}.`)
  return line
}

function tooLong(): AnetError {
  return new AnetError('passphrase_too_long', `A passphrase has at most ${maxPassphraseBytes} bytes.`)
}
