import { type ReactElement, useState } from 'react'
import type { ShellView } from '@shared/contract/index.ts'
import { ConfirmStep } from './confirm-step.tsx'
import { PhraseStep } from './phrase-step.tsx'
import { StoreStep } from './store-step.tsx'

export type StoreKind = 'keychain' | 'passphrase' | 'file'

export interface Draft {
  readonly secretStore: StoreKind
  readonly phrase: readonly string[]
  readonly ask: readonly number[]
}

/** Steps 1 and 2. Nothing is on disk until the three words were right; then the node starts and step 3 follows. */
export function FirstRun({ shell }: { readonly shell: ShellView }): ReactElement {
  const [draft, setDraft] = useState<Draft>()
  const [written, setWritten] = useState(false)
  if (draft === undefined) return <StoreStep shell={shell} onDraft={setDraft} />
  if (!written)
    return (
      <PhraseStep shell={shell} draft={draft} onBack={() => setDraft(undefined)} onWritten={() => setWritten(true)} />
    )
  return <ConfirmStep shell={shell} draft={draft} onBack={() => setWritten(false)} />
}
