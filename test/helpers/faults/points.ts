/** Fault points that a round of tasks comes to, in one of the two nodes or in both. */
export const taskPoints = [
  'send.files',
  'send.written',
  'send.committed',
  'cancel.written',
  'task.message',
  'task.status',
  'task.artifact',
  'task.cancel',
  'outbox.enqueued',
  'outbox.sealed',
  'outbox.sent',
  'outbox.recorded',
  'inbox.held',
  'inbox.applied',
  'inbox.committed',
  'inbox.drained',
  'inbox.acknowledged',
  'request.opened',
  'request.message',
  'request.cancel',
  'request.refused',
  'answer.status',
  'answer.artifact',
  'answer.refusal',
  'inbox.answered',
  'inbox.written',
  'backend.before_start',
  'provider.forwarding',
  'provider.forward_committed',
  'backend.started',
  'provider.said',
  'provider.artifact',
  'backend.answered',
  'provider.forwarded',
] as const

/** The same of the hub. */
export const hubTaskPoints = [
  'hub.mail.inserted',
  'hub.mail.committed',
  'hub.ack.committed',
  'hub.blob.synced',
] as const

/** Points of setting up, joining and publishing, and of the start after a kill: each has a test of its own. */
export const otherPoints = [
  'provider.recovered',
  'join.accepted',
  'join.stored',
  'publish.sent',
  'hub.identity.saved',
  'hub.join.committed',
  'hub.publish.committed',
  // test/integration/identity/setup.test.ts
  'setup.wrapping_key_kept',
  'setup.identity_saved',
] as const

/** Tried in every run of the tests; `npm run test:faults` tries all. */
export const everyRun: readonly string[] = [
  'send.committed',
  'outbox.sent',
  'inbox.committed',
  'provider.forward_committed',
  'provider.forwarded',
  'hub.mail.committed',
]

export const isFullRun = process.env['ANET_FAULT_ROUNDS'] === 'full'
