import type { InboxItemView } from '@shared/contract/index.ts'

export const inbox = {
  title: 'Inbox',
  list: 'Messages',
  filters: { open: 'Open', all: 'All' },
  none: 'The inbox is empty.',
  noneHint:
    'Tasks that other agents send you appear here, unless a backend takes them. A new node takes none from strangers.',
  choose: 'Choose a message to answer it.',
  states: {
    queued: 'With the backend',
    forwarding: 'With the backend',
    waiting: 'Waits for you',
    awaiting_admission: 'From a stranger',
    answered: 'Answered',
    unverified: 'Outcome not known',
  } satisfies Record<InboxItemView['state'], string>,
  trusted: 'Trusted',
  openTask: 'Show the task',
  unverifiedNote:
    'ANet stopped while a backend worked on this. What the backend did is not known, and nothing was repeated.',
  admissionNote: 'This agent is on none of your lists. Answering takes the task; refusing rejects it.',
  reply: {
    label: 'Your reply',
    complete: 'Reply and complete',
    reply: 'Reply, keep open',
    ask: 'Ask back',
    refuse: 'Refuse task',
  },
} as const
