import { encodeBase64Url } from '@shared/wire/index.ts'
import { crypto } from './crypto.ts'
import { inviteHash } from './membership/index.ts'
import type { HubParts } from './parts.ts'

const defaultValidFor = 7 * 24 * 60 * 60_000
const tokenBytes = 24

export interface Invite {
  /** What the invited agent shows; the hub keeps only its hash. */
  readonly token: string
  readonly expiresAt: number
}

/** Makes a single-use invite, good for `validFor` milliseconds. */
export async function createInvite(
  { store, clock }: Pick<HubParts, 'store' | 'clock'>,
  validFor = defaultValidFor,
): Promise<Invite> {
  const token = encodeBase64Url(crypto.randomBytes(tokenBytes))
  const createdAt = clock.now()
  const expiresAt = createdAt + validFor
  await store.addInvite({ hash: inviteHash(token), createdAt, expiresAt })
  return { token, expiresAt }
}
