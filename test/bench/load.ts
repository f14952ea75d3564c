import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import type { Child } from '../../src-main/demo/child.ts'

/** A request as a load generator sends it over and over. `{{id}}` in the body becomes a new message id each time. */
export interface LoadRequest {
  readonly port: number
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const ratedSchema = z.object({ perSecond: z.number() })
const timesSchema = z.object({ ms: z.number() })

/** What the task before still has to do after its stream has ended (receipts, deletions) is not part of the next one. */
const restMs = 100

/** The load generator, which runs in a process of its own. */
export interface Load {
  /** Answered requests a second. Every answer has to be 200 and no error. */
  rate(request: LoadRequest, form: { connections: number; ms: number }): Promise<number>
  /**
   * Milliseconds from the request to the first streamed event that carries content of an artifact, for each of `times`
   * requests to each target, which take turns.
   */
  firstEvents(targets: readonly LoadRequest[], times: number): Promise<number[][]>
}

export function createLoad(child: Child): Load {
  return {
    async rate(request, form) {
      return ratedSchema.parse(await child.call('rate', { request, ...form })).perSecond
    },
    async firstEvents(targets, times) {
      const all: number[][] = targets.map(() => [])
      for (let turn = 0; turn < times; turn += 1) {
        for (const [index, request] of targets.entries()) {
          const { ms } = timesSchema.parse(await child.call('firstEvent', { request }))
          all[index]?.push(ms)
          await sleep(restMs)
        }
      }
      return all
    },
  }
}
