export { createMembership, inviteHash, type Membership } from './membership.ts'
export { queryWords } from './card-index.ts'
