import { anetKeys, type Message } from '@shared/a2a/index.ts'
import type { BackendConfig, Config } from '@shared/config/index.ts'
import type { StoredMessage, StoredPart } from '../../../tasks/index.ts'

/**
 * The backend that a message is for: the one that matches the skill it names (or that the skill's settings name), else
 * the one for everything. Undefined if there is none.
 */
export function selectBackend<T extends { readonly config: BackendConfig }>(
  backends: readonly T[],
  skills: Config['skills'],
  message: StoredMessage | Message,
): T | undefined {
  const skill = message.metadata?.[anetKeys.skill]
  const wanted = skills.find((known) => known.id === skill)?.backend ?? skill
  return (
    backends.find(({ config }) => config.match === wanted && config.match !== '*') ??
    backends.find(({ config }) => config.match === '*')
  )
}

/** Only text is forwarded; a message with a file or with data is the operator's. */
export function isTextOnly(message: StoredMessage): boolean {
  return message.parts.every(isTextPart)
}

function isTextPart(part: StoredPart): boolean {
  return 'large' in part ? part.large.field === 'text' && part.filename === undefined : part.text !== undefined
}

export function takesPeer(config: BackendConfig, trusted: boolean): boolean {
  return trusted || (config.accept_untrusted && config.toolless)
}
