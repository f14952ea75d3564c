import type { Refusal } from './answer.ts'
import type { Exchange } from './exchange.ts'

/** The client went away in the middle of its request: there is nobody to answer. */
export const clientGone = Symbol('client gone')

/**
 * Reads a request body into memory, or says why not: 413 as soon as Content-Length or the count says so, 408 after
 * {@link ListenerLimits.bodyStall} without progress. Sends `100 Continue` where the client waits for it.
 */
export function readBody(exchange: Exchange): Promise<Buffer | Refusal | typeof clientGone> {
  const { request, response, facts, limits } = exchange
  const tooLarge: Refusal = { status: 413, message: `A request body is limited to ${limits.bodyBytes} bytes.` }
  if (Number(facts.contentLength) > limits.bodyBytes) return Promise.resolve(tooLarge)
  if (exchange.expectsContinue) {
    exchange.expectsContinue = false
    response.writeContinue()
  }
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    const timer = setTimeout(
      () => finish({ status: 408, message: `No part of the body arrived for ${limits.bodyStall / 1000} seconds.` }),
      limits.bodyStall,
    )
    function onData(chunk: Buffer): void {
      size += chunk.byteLength
      if (size > limits.bodyBytes) {
        request.pause()
        finish(tooLarge)
        return
      }
      chunks.push(chunk)
      timer.refresh()
    }
    function onEnd(): void {
      const [only] = chunks
      finish(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, size))
    }
    function onGone(): void {
      finish(clientGone)
    }
    function finish(outcome: Buffer | Refusal | typeof clientGone): void {
      clearTimeout(timer)
      request.off('data', onData)
      request.off('end', onEnd)
      request.off('close', onGone)
      resolve(outcome)
    }
    request.on('data', onData)
    request.on('end', onEnd)
    request.on('close', onGone)
  })
}
