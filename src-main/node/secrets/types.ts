import type { Aid } from '@shared/wire/index.ts'

/** Where the wrapping key lives (spec/network.md, Secret store). Chosen once, at set-up. */
export const secretStoreKinds = ['keychain', 'passphrase', 'file'] as const
export type SecretStoreKind = (typeof secretStoreKinds)[number]

/** Asks whoever can know it: a terminal, a file descriptor, a private file. Called only if a passphrase is needed. */
export type PassphraseSource = () => Promise<string>

/** What opening the secret store gives to the floors above. */
export interface Secrets {
  /** Whose keys these are, as the key file says in the clear. */
  readonly aid: Aid
  /** 32 bytes; also seals what people wrote, in the database. */
  readonly wrappingKey: Uint8Array
  readonly kind: SecretStoreKind
  /** A sentence for doctor, tray and settings if this store protects less than the others; otherwise undefined. */
  readonly warning: string | undefined
  /** What is sealed in the key file, as the identity wrote it. */
  readonly keys: Uint8Array
  /** Replaces what is sealed in the key file, durably: when it resolves, a crash cannot lose it. */
  replaceKeys(keys: Uint8Array): Promise<void>
}
