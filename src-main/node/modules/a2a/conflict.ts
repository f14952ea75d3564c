import type { EndpointView } from '@shared/contract/index.ts'
import { removePrivateFile, stillRuns, writePrivateFile } from '../../data-dir/index.ts'
import { addressOf, type BoundRecord, type EndpointFiles } from './address.ts'
import { findPortHolder, type PortHolder, unknownHolder } from './port-holder.ts'

export type Conflict = NonNullable<EndpointView['conflict']>

/** True if the holder is the process that served this data directory before, or this very process. */
export async function isThisNode(holder: PortHolder, bound: BoundRecord | undefined): Promise<boolean> {
  if (holder.pid === process.pid) return true
  return bound !== undefined && holder.pid === bound.pid && (await stillRuns(bound))
}

/** Looks who holds the port and says what to do about it. `since`: milliseconds since 1970. */
export async function describeConflict(port: number, bound: BoundRecord | undefined, since: number): Promise<Conflict> {
  const holder = (await findPortHolder(port)) ?? unknownHolder
  const thisNode = await isThisNode(holder, bound)
  return {
    address: addressOf(port),
    since,
    holder: { ...holder, thisNode },
    remedy: [
      holder.pid === null
        ? `Find the program that holds ${addressOf(port)} and end it.`
        : `End process ${holder.pid}${holder.command === null ? '' : ` (${holder.command})`}, which holds ${addressOf(port)}.`,
      'Then choose "Try again" in the window, or run "anet a2a retry", or restart the node with "anet stop && anet up".',
      holder.otherUser && !thisNode
        ? 'The token was replaced, because the holder may have read it: give it to your clients again; "anet a2a token-file" says where it is.'
        : 'The address and the token stay as they are.',
    ],
  }
}

export function holderText(holder: Conflict['holder']): string {
  if (holder.thisNode) return 'another instance of this node'
  if (holder.pid === null) return holder.user === null ? 'an unknown program' : `a program of user ${holder.user}`
  return `${holder.command ?? 'a program'} (process ${holder.pid}${holder.user === null ? '' : `, user ${holder.user}`})`
}

/** Writes a2a_port_conflict.txt for people and scripts. */
export async function writeConflict(files: EndpointFiles, conflict: Conflict): Promise<void> {
  const lines = [
    `time: ${new Date(conflict.since).toISOString()}`,
    `address: ${conflict.address}`,
    `holder: ${holderText(conflict.holder)}`,
    'remedy:',
    ...conflict.remedy.map((step, index) => `  ${index + 1}. ${step}`),
  ]
  await writePrivateFile(files.conflict, `${lines.join('\n')}\n`)
}

export async function clearConflict(files: EndpointFiles): Promise<void> {
  await removePrivateFile(files.conflict)
}
