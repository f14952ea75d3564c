import type { CheckView, EndpointView, NodeView } from '@shared/contract/index.ts'
import { fields, inert, when } from './text.ts'

/** The node in a few lines: what `anet up` and `anet status` print. */
export function nodeText(node: NodeView): string {
  const { counts } = node
  const lines = [
    fields([
      ['Node', `${node.aid} (${node.kind}, pid ${node.pid}, since ${when(node.startedAt)})`],
      ['Hub', hubText(node)],
      ...endpointLines(node.endpoint),
      ['Agents', String(counts.agents)],
      ['Tasks', `${counts.openTasks} open, ${counts.outbox} messages waiting to be sent`],
      ['Inbox', `${counts.inbox} waiting`],
      ['Data', node.dataDir],
    ]),
  ]
  if (node.endpoint.conflict !== null) lines.push(conflictText(node.endpoint.conflict))
  if (node.secretStore === 'file') lines.push(fileStoreWarning)
  return lines.join('\n\n')
}

export const fileStoreWarning =
  'Warning: the key of this node lies unprotected in its data directory. Anyone who can read your files can act as you.'

export function endpointLines(endpoint: EndpointView): (readonly [string, string])[] {
  return [
    ['A2A address', endpoint.state === 'up' ? (endpoint.address ?? '') : `down: ${inert(endpoint.sentence)}`],
    ...(endpoint.agentsUrl === null ? [] : [['Agents URL', endpoint.agentsUrl] as const]),
    ...(endpoint.tokenFile === null ? [] : [['Token file', endpoint.tokenFile] as const]),
  ]
}

/** Who holds the port, and the steps to take, in order. */
export function conflictText(conflict: NonNullable<EndpointView['conflict']>): string {
  const { holder } = conflict
  const who = [
    holder.command ?? 'an unknown program',
    holder.pid === null ? undefined : `pid ${holder.pid}`,
    holder.user === null ? undefined : `user ${holder.user}`,
  ]
  return [
    `Port conflict: ${conflict.address} is held by ${inert(who.filter((part) => part !== undefined).join(', '))} since ${when(conflict.since)}.`,
    ...conflict.remedy.map((step, index) => `  ${index + 1}. ${inert(step)}`),
  ].join('\n')
}

export function checksText(checks: readonly CheckView[]): string {
  const width = Math.max(...checks.map((check) => check.name.length))
  return checks
    .map(({ name, outcome, seen, remedy }) => {
      const line = `${outcome.padEnd(4)}  ${name.padEnd(width)}  ${inert(seen)}`
      return remedy === null ? line : `${line}\n${' '.repeat(width + 8)}${inert(remedy)}`
    })
    .join('\n')
}

function hubText({ join }: NodeView): string {
  const name = join.hub === null ? '' : `${inert(join.hub.name || join.hub.url)} (${join.hub.url}): `
  return `${name}${inert(join.sentence)}`
}
