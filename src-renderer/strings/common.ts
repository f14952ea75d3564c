import type { TaskState } from '@shared/a2a/index.ts'
import type { EndpointView, JoinStateView } from '@shared/contract/index.ts'
import { clockTime, dateOf } from '@shared/format/index.ts'

type Conflict = NonNullable<EndpointView['conflict']>
type Holder = Conflict['holder']

function portOf(address: string): string {
  return address.slice(address.lastIndexOf(':') + 1)
}

function userLine({ user, otherUser, thisNode }: Holder): string {
  if (thisNode) return 'another instance of this node'
  if (user === null) return 'not known, treated as another user'
  return otherUser ? `${user}, another user: the token was replaced` : `${user}, the same as this node`
}

export const common = {
  product: 'ANet',
  nav: { overview: 'Overview', agents: 'Agents', tasks: 'Tasks', inbox: 'Inbox', settings: 'Settings' },
  copy: 'Copy',
  copied: 'Copied',
  cancel: 'Cancel',
  close: 'Close',
  tryAgain: 'Try again',
  back: 'Back',
  fromAgent: (name: string) => `From ${name}`,
  loading: 'Loading',
  showMore: (characters: number) => `Show more (${characters.toLocaleString('en')} characters left)`,
  unknownError: 'Something failed inside ANet.',
  mainNavigation: 'Views',
  portTaken: (address: string) => `Port ${portOf(address)} is taken`,
  joinedTo: (hub: string) => `Joined to ${hub}`,
  joinStates: {
    no_hub: 'No hub yet',
    joining: 'Joining the hub',
    waiting_for_admission: 'Waiting for admission',
    joined: 'Joined',
    hub_unreachable: 'Hub not reachable',
    refused: 'The hub refused',
    removed: 'Removed from the hub',
    running_elsewhere: 'Running elsewhere',
  } satisfies Record<JoinStateView['state'], string>,
  conflict: {
    label: 'Port conflict',
    sentence: (conflict: Conflict) =>
      `${conflict.holder.thisNode ? 'Another instance of this node' : 'Another program'} holds port ${portOf(conflict.address)}. Your tools cannot reach this node.`,
    details: 'Details',
    hideDetails: 'Hide details',
    address: 'Address',
    program: 'Program',
    process: (pid: number) => ` process ${pid}`,
    user: 'User',
    userLine,
    since: 'Since',
    unknown: 'not known',
    detailsName: 'details of the port conflict',
    copyDetails: 'Copy details',
    report: ({ address, holder, since }: Conflict) =>
      [
        `Address: ${address}`,
        `Program: ${holder.command ?? 'not known'}`,
        `Process: ${holder.pid ?? 'not known'}`,
        `User: ${userLine(holder)}`,
        `Since: ${dateOf(since)}, ${clockTime(since, true)}`,
      ].join('\n'),
  },
  taskStates: {
    TASK_STATE_SUBMITTED: 'Sent',
    TASK_STATE_WORKING: 'Working',
    TASK_STATE_INPUT_REQUIRED: 'Asks you',
    TASK_STATE_AUTH_REQUIRED: 'Needs sign-in',
    TASK_STATE_COMPLETED: 'Completed',
    TASK_STATE_FAILED: 'Failed',
    TASK_STATE_CANCELED: 'Canceled',
    TASK_STATE_REJECTED: 'Rejected',
  } satisfies Record<TaskState, string>,
  peerTaskStates: {
    TASK_STATE_SUBMITTED: 'Received',
    TASK_STATE_INPUT_REQUIRED: 'You asked back',
  } as Partial<Record<TaskState, string>>,
} as const
