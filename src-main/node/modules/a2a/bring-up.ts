import { setTimeout as sleep } from 'node:timers/promises'
import { errorView } from '@shared/errors.ts'
import type { Clock, Log } from '../../ports.ts'
import { addressOf, type BoundRecord, type EndpointFiles, planAddress, randomPorts, recordBound } from './address.ts'
import { clearConflict, type Conflict, describeConflict, holderText, isThisNode, writeConflict } from './conflict.ts'
import type { Listener } from './listener.ts'
import { findPortHolder } from './port-holder.ts'
import type { TokenFile } from './token-file.ts'

export type BringUp =
  | { readonly kind: 'up'; readonly address: string; readonly listener: Listener }
  | { readonly kind: 'conflict'; readonly conflict: Conflict; readonly sentence: string }
  | { readonly kind: 'invalid'; readonly why: string }
  | { readonly kind: 'failed'; readonly address: string | null; readonly sentence: string }

export interface BringUpParts {
  readonly files: EndpointFiles
  readonly token: TokenFile
  /** Binds the listener; an error with the code EADDRINUSE means that the port is taken. */
  readonly open: (port: number) => Promise<Listener>
  readonly clock: Clock
  readonly log: Log
}

/** How long the process that served this data directory before may take to let go of the port (milliseconds). */
const predecessorTime = 5000
const predecessorPause = 100
/** A holder whose process cannot be seen is looked at once more: another user's stays, one that is closing is gone. */
const looksAtUnknown = 1

/**
 * Binds the address that the files name, or chooses one at the first start (spec/a2a-endpoint.md, Address). Never moves away
 * from a recorded port: clients would go on sending the token to whoever has it.
 */
export async function bringUp(parts: BringUpParts): Promise<BringUp> {
  const { files, token, log } = parts
  let address: string | null = null
  try {
    const plan = await planAddress(files)
    if (plan.kind === 'invalid') {
      log.error({ file: files.address }, 'the address file of the A2A endpoint is not valid')
      return plan
    }
    if (plan.kind === 'choose') return await chooseAddress(parts)
    address = addressOf(plan.port)
    // before the listener opens: nobody gets in with a token that belongs to another address
    if (plan.newToken) await token.replace()
    const listener = await openRecorded(parts, plan.port, plan.bound)
    if (listener === undefined) return await reportConflict(parts, plan.port, plan.bound)
    return await up(parts, listener, plan.port, { address: false })
  } catch (error) {
    log.error({ err: error }, 'the A2A endpoint could not start')
    const { message, remedy } = errorView(error)
    return {
      kind: 'failed',
      address,
      sentence: `The local A2A endpoint could not start. ${message}${remedy === undefined ? '' : ` ${remedy}`}`,
    }
  }
}

async function up(
  { files, log }: BringUpParts,
  listener: Listener,
  port: number,
  record: { address: boolean },
): Promise<BringUp> {
  try {
    await recordBound(files, port, record)
    await clearConflict(files)
  } catch (error) {
    await listener.close()
    throw error
  }
  const address = addressOf(port)
  log.info({ address, hosts: listener.hosts }, 'the A2A endpoint is up')
  return { kind: 'up', address, listener }
}

async function chooseAddress(parts: BringUpParts): Promise<BringUp> {
  for (const port of randomPorts()) {
    // oxlint-disable-next-line no-await-in-loop
    const listener = await openUnlessTaken(parts, port)
    if (listener === undefined) continue
    try {
      // oxlint-disable-next-line no-await-in-loop
      await parts.token.replace()
    } catch (error) {
      // oxlint-disable-next-line no-await-in-loop
      await listener.close()
      throw error
    }
    return up(parts, listener, port, { address: true })
  }
  return { kind: 'failed', address: null, sentence: 'Every port from 43811 to 45810 is taken on this machine.' }
}

async function openUnlessTaken({ open }: BringUpParts, port: number): Promise<Listener | undefined> {
  try {
    return await open(port)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return undefined
    throw error
  }
}

/** Undefined: somebody else has the port. This directory's previous process gets time to let go of it. */
async function openRecorded(
  parts: BringUpParts,
  port: number,
  bound: BoundRecord | undefined,
): Promise<Listener | undefined> {
  const until = Date.now() + predecessorTime
  let unknown = 0
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop
    const listener = await openUnlessTaken(parts, port)
    if (listener !== undefined) return listener
    // oxlint-disable-next-line no-await-in-loop
    const holder = await findPortHolder(port)
    // nobody, or a socket that was closed while its process was looked for: it was let go of in between
    const vanished = holder === undefined || (holder.pid === null && (unknown += 1) <= looksAtUnknown)
    const letting = vanished || (holder.pid !== process.pid && (await isThisNode(holder, bound)))
    if (!letting || Date.now() > until) return undefined
    // oxlint-disable-next-line no-await-in-loop
    await sleep(predecessorPause)
  }
}

async function reportConflict(parts: BringUpParts, port: number, bound: BoundRecord | undefined): Promise<BringUp> {
  const { files, token, clock, log } = parts
  const conflict = await describeConflict(port, bound, clock.now())
  const { holder } = conflict
  // clients may already have sent it the token
  if (holder.otherUser && !holder.thisNode) await token.replace()
  await writeConflict(files, conflict)
  log.error({ address: conflict.address, holder }, 'the port of the A2A endpoint is taken')
  const sentence = `The local A2A endpoint is down: ${holderText(holder)} holds ${conflict.address}.`
  return { kind: 'conflict', conflict, sentence }
}
