import type { Refusal } from './answer.ts'
import type { Exchange } from './exchange.ts'
import { JsonShape } from './json-shape.ts'

/** The client went away in the middle of its request: there is nobody to answer. */
export const clientGone = Symbol('client gone')

/**
 * Reads a JSON request body into memory, or says why not: 413 as soon as Content-Length, the count or what it would be
 * when it is parsed says so, 408 after {@link ListenerLimits.bodyStall} without progress. Sends `100 Continue` where the client waits for it.
 */
export function readBody(exchange: Exchange): Promise<Buffer | Refusal | typeof clientGone> {
  const { request, response, facts, limits } = exchange
  const tooLarge: Refusal = { status: 413, message: `A request body is limited to ${limits.bodyBytes} bytes.` }
  const tooMuch: Refusal = {
    status: 413,
    message: `A request body is limited to ${limits.bodyValues} JSON values, nested ${limits.bodyDepth} deep. Send large data as a file.`,
  }
  if (Number(facts.contentLength) > limits.bodyBytes) return Promise.resolve(tooLarge)
  if (exchange.expectsContinue) {
    exchange.expectsContinue = false
    response.writeContinue()
  }
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const shape = new JsonShape()
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
      shape.push(chunk)
      if (shape.values > limits.bodyValues || shape.depth > limits.bodyDepth) {
        request.pause()
        finish(tooMuch)
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
