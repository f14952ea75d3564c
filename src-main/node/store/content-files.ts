import { randomBytes, webcrypto } from 'node:crypto'
import { constants } from 'node:fs'
import { open, readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { AnetError } from '@shared/errors.ts'
import { databaseDamaged } from '@shared/sql/index.ts'
import { fileError, privateDirectory, syncDirectory } from '../data-dir/index.ts'
import { nonceBytes, sealFormat, sealOverhead } from './seal.ts'
import type { FileRef } from './types.ts'

/** Largest content of a file: a message has 90 MiB at most, so that anything above is a mistake. */
const maxFileBytes = 256 * 1024 * 1024
const namePattern = /^[0-9a-f]{64}$/
const bound = new TextEncoder().encode('anet/file/1')

/**
 * Sealed files, named by the SHA-256 of their ciphertext. Each has a key of its own, which only its reference holds.
 * Sealing and hashing use WebCrypto, which works off the main thread: 90 MiB do not stop the window.
 */
export class ContentFiles {
  readonly #folder: string

  private constructor(folder: string) {
    this.#folder = folder
  }

  static async open(folder: string): Promise<ContentFiles> {
    await privateDirectory(folder)
    return new ContentFiles(folder)
  }

  /** Writes a sealed file; on return the file and its name are on the disk. Errors: `content_too_large`, `disk_full`. */
  async put(plaintext: Uint8Array): Promise<FileRef> {
    if (plaintext.byteLength > maxFileBytes) {
      throw new AnetError('content_too_large', `${plaintext.byteLength} bytes are over the limit of ${maxFileBytes}.`)
    }
    const key = randomBytes(32)
    const nonce = randomBytes(nonceBytes)
    const sha256 = hex(await webcrypto.subtle.digest('SHA-256', plaintext))
    const cipherKey = await webcrypto.subtle.importKey('raw', key, 'AES-GCM', false, ['encrypt'])
    const algorithm = { name: 'AES-GCM', iv: nonce, additionalData: bound }
    const ciphertext = new Uint8Array(await webcrypto.subtle.encrypt(algorithm, cipherKey, plaintext))
    const sealed = new Uint8Array(1 + nonceBytes + ciphertext.byteLength)
    sealed[0] = sealFormat
    sealed.set(nonce, 1)
    sealed.set(ciphertext, 1 + nonceBytes)
    const name = hex(await webcrypto.subtle.digest('SHA-256', sealed))
    await this.#write(join(this.#folder, name), sealed)
    return { name, key: key.toString('base64url'), size: plaintext.byteLength, sha256 }
  }

  /** Reads and opens a file. One that is missing, or is not what was written, is `database_damaged`. */
  async get(ref: FileRef): Promise<Uint8Array> {
    const sealed = await this.#read(ref)
    if (sealed.byteLength !== ref.size + sealOverhead || sealed[0] !== sealFormat) throw damagedFile(ref.name)
    try {
      const key = Buffer.from(ref.key, 'base64url')
      const cipherKey = await webcrypto.subtle.importKey('raw', key, 'AES-GCM', false, ['decrypt'])
      const iv = sealed.subarray(1, 1 + nonceBytes)
      const algorithm = { name: 'AES-GCM', iv, additionalData: bound }
      return new Uint8Array(await webcrypto.subtle.decrypt(algorithm, cipherKey, sealed.subarray(1 + nonceBytes)))
    } catch (cause) {
      throw damagedFile(ref.name, cause)
    }
  }

  /** Removes a file; one that is gone already is fine. */
  async remove(name: string): Promise<void> {
    if (!namePattern.test(name)) throw new TypeError(`"${name}" is not the name of a content file.`)
    await unlink(join(this.#folder, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw fileError(error, this.#folder)
    })
  }

  /** Removes every content file that nothing refers to: half-written, or written for a transaction that never came. */
  async removeOrphans(isKept: (name: string) => boolean): Promise<number> {
    let removed = 0
    for (const name of await readdir(this.#folder)) {
      if (!namePattern.test(name) || isKept(name)) continue
      await this.remove(name)
      removed += 1
    }
    return removed
  }

  async #write(path: string, bytes: Uint8Array): Promise<void> {
    try {
      const file = await open(path, 'wx', 0o600)
      try {
        await file.writeFile(bytes)
        await file.sync()
      } finally {
        await file.close()
      }
      await syncDirectory(this.#folder)
    } catch (error) {
      await unlink(path).catch(() => undefined)
      throw fileError(error, this.#folder)
    }
  }

  async #read(ref: FileRef): Promise<Uint8Array> {
    if (!namePattern.test(ref.name)) throw damagedFile(ref.name)
    try {
      const file = await open(join(this.#folder, ref.name), constants.O_RDONLY | constants.O_NOFOLLOW)
      try {
        if ((await file.stat()).size !== ref.size + sealOverhead) throw damagedFile(ref.name)
        return await file.readFile()
      } finally {
        await file.close()
      }
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      throw code === 'ENOENT' || code === 'ELOOP' ? damagedFile(ref.name, error) : fileError(error, this.#folder)
    }
  }
}

function damagedFile(name: string, cause?: unknown): AnetError {
  return databaseDamaged(`The stored file attachments/${name} is missing or is not what was written.`, cause)
}

function hex(bytes: ArrayBuffer): string {
  return Buffer.from(bytes).toString('hex')
}
