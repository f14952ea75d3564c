import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { HubError } from '../errors.ts'

export interface BodyLimits {
  readonly maxBytes: number
  /** Milliseconds within which the next piece has to come. */
  readonly idle: number
}

/** Slower than this on the whole, and the body is given up. */
const minBytesPerMs = 16

/**
 * Receives a request's body piece by piece, at the pace at which `take` keeps up, and returns its SHA-256. A body over
 * the limit is refused without reading on: by its Content-Length where it has one. Errors: `too_large`, `bad_request`.
 */
export function receiveBody(
  request: IncomingMessage,
  { maxBytes, idle }: BodyLimits,
  take: (piece: Uint8Array) => void | Promise<void>,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const hash = createHash('sha256')
    const begun = performance.now()
    let size = 0
    let pending: Promise<void> | undefined
    const tooSlow = () =>
      fail(new HubError('bad_request', 'The body of this request comes too slowly.', { status: 408 }))
    const timer = setTimeout(tooSlow, idle)
    const end = () => {
      clearTimeout(timer)
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose)
      request.on('error', () => {})
    }
    const fail = (error: unknown) => {
      end()
      request.pause()
      reject(error as Error)
    }
    const onData = (chunk: Buffer) => {
      size += chunk.byteLength
      if (size > maxBytes) return fail(tooLarge(maxBytes))
      if (performance.now() - begun > idle + size / minBytesPerMs) return tooSlow()
      timer.refresh()
      hash.update(chunk)
      try {
        const taken = take(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength))
        if (taken === undefined) return
        request.pause()
        pending = taken.then(() => {
          pending = undefined
          request.resume()
        })
        pending.catch(fail)
      } catch (error) {
        fail(error)
      }
    }
    const onEnd = () => {
      end()
      const digest = hash.digest()
      const whole = new Uint8Array(digest.buffer, digest.byteOffset, digest.byteLength)
      if (pending === undefined) resolve(whole)
      else pending.then(() => resolve(whole), reject)
    }
    const onClose = () => fail(new HubError('bad_request', 'The request ended before its body.'))
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) return fail(tooLarge(maxBytes))
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose)
  })
}

/** Receives a body into memory. */
export async function readBody(
  request: IncomingMessage,
  limits: BodyLimits,
): Promise<{ body: Uint8Array; hash: Uint8Array }> {
  const pieces: Uint8Array[] = []
  const hash = await receiveBody(request, limits, (piece) => {
    pieces.push(piece)
  })
  const [only] = pieces
  const body = only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces)
  return { body: new Uint8Array(body.buffer, body.byteOffset, body.byteLength), hash }
}

function tooLarge(maxBytes: number): HubError {
  return new HubError('too_large', `This is over the limit of ${maxBytes} bytes.`)
}
