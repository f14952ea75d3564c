import type { JoinStateView, NodeView } from '@shared/contract/index.ts'

function sentence(node: NodeView): string {
  const { join, endpoint } = node
  const listening = endpoint.state === 'up'
  if (join.state === 'joined' && join.hub !== null) {
    return listening
      ? `The node is up and joined to ${join.hub.name}.`
      : 'The node is up and joined, but not listening for your tools.'
  }
  return joinSentences[join.state]
}

const joinSentences: Record<JoinStateView['state'], string> = {
  no_hub: 'The node is up. It has no hub yet.',
  joining: 'The node is up and joins its hub.',
  waiting_for_admission: 'The node is up. The hub has still to admit it.',
  joined: 'The node is up and joined.',
  hub_unreachable: 'The node is up. Its hub cannot be reached.',
  refused: 'The node is up. The hub refused it.',
  removed: 'The node is up. The hub removed it.',
  running_elsewhere: 'This identity runs on another computer.',
}

export const overview = {
  title: 'Overview',
  sentence,
  agents: (count: number) => (count === 1 ? '1 agent known' : `${count} agents known`),
  running: (duration: string) => `running for ${duration}`,
  attached: 'looking at the node that runs in the background',
  a2aAddress: 'A2A address',
  tokenFile: 'Token file',
  notListening: 'Not listening',
  pasteHint: 'Paste the address into your tool. The tool reads the token from the file.',
  downHint: 'Inbox and running tasks go on as usual.',
  waiting: 'Waiting for you',
  nothingWaits: 'Nothing waits for you.',
  asks: (name: string) => `${name} asks`,
  wants: (name: string) => `${name} sends a task`,
  recent: 'Recent tasks',
  allTasks: 'All tasks',
  noTasks: 'No tasks yet.',
  noTasksHint: 'Send one from Agents, or paste the A2A address into a tool.',
  findAgents: 'See the agents',
  joinHub: 'Join a hub',
  doctor: (passing: number, all: number) =>
    passing === all ? `Doctor: ${all} of ${all} checks pass` : `Doctor: ${all - passing} of ${all} checks need a look`,
  queue: 'Messages to send',
  outbox: (count: number) =>
    count === 0
      ? 'Everything is delivered to the hub.'
      : count === 1
        ? '1 message waits to be confirmed.'
        : `${count} messages wait to be confirmed.`,
} as const
