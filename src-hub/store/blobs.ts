import { randomBytes } from 'node:crypto'
import { open, readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { privateDirectory, syncDirectory } from '../private-files.ts'
import type { BlobWriter } from './types.ts'

const pieceBytes = 256 * 1024

/** Large envelopes as files of their own: a row of that size would block the process while it is written. */
export interface Blobs {
  create(): Promise<BlobWriter>
  read(name: string): AsyncIterable<Uint8Array>
  delete(names: readonly string[]): Promise<void>
  /** Deletes the files that no row refers to: what a crash left between file and row, or between row and file. */
  clean(isUsed: (name: string) => boolean): Promise<void>
}

export async function openBlobs(directory: string, fault: (point: string) => void): Promise<Blobs> {
  await privateDirectory(directory)
  return {
    create: async () => {
      const name = randomBytes(16).toString('hex')
      const path = join(directory, name)
      const file = await open(path, 'wx', 0o600)
      let isOpen = true
      const close = async () => {
        if (isOpen) await file.close()
        isOpen = false
      }
      return {
        write: async (piece) => {
          await file.write(piece)
        },
        commit: async () => {
          await file.sync()
          await close()
          await syncDirectory(directory)
          fault('hub.blob.synced')
          return name
        },
        discard: async () => {
          await close()
          await unlink(path).catch(ignoreMissing)
        },
      }
    },
    read: (name) => readPieces(join(directory, name)),
    delete: async (names) => {
      for (const name of names) await unlink(join(directory, name)).catch(ignoreMissing)
    },
    clean: async (isUsed) => {
      for (const name of await readdir(directory)) if (!isUsed(name)) await unlink(join(directory, name))
    },
  }
}

async function* readPieces(path: string): AsyncGenerator<Uint8Array> {
  const file = await open(path, 'r')
  try {
    for (;;) {
      // a fresh buffer each time: the reader may still be sending the piece before
      const { bytesRead, buffer } = await file.read(new Uint8Array(pieceBytes), 0, pieceBytes)
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  } finally {
    await file.close()
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
