import { type ReactElement, useState } from 'react'
import type { ShellView } from '@shared/contract/index.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Field } from '../../components/field.tsx'
import { desktop } from '../../state/bridge.ts'
import { strings } from '../../strings/index.ts'
import { SetupFrame } from './setup-frame.tsx'

export function Unlock({ shell }: { readonly shell: ShellView }): ReactElement {
  const text = strings.setup.unlock
  const [passphrase, setPassphrase] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const unlock = (): void => {
    setBusy(true)
    setError(undefined)
    desktop.unlock
      .passphrase({ passphrase })
      .catch(setError)
      .finally(() => setBusy(false))
  }
  const footer = (
    <Button variant="primary" size="decision" type="submit" form="unlock" disabled={busy || passphrase === ''}>
      {text.unlock}
    </Button>
  )
  return (
    <SetupFrame shell={shell} title={text.title} intro={text.intro} footer={footer}>
      <form
        id="unlock"
        onSubmit={(event) => {
          event.preventDefault()
          unlock()
        }}
      >
        <Field
          label={strings.setup.store.passphrase}
          type="password"
          autoFocus
          autoComplete="current-password"
          value={passphrase}
          onValue={setPassphrase}
          problem={shell.error?.message}
        />
      </form>
      {error !== undefined && <ErrorNote error={error} />}
    </SetupFrame>
  )
}
