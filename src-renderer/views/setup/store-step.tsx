import { TriangleAlert } from 'lucide-react'
import { useQuery } from '@tanstack/react-query'
import { type ReactElement, useState } from 'react'
import type { ShellView } from '@shared/contract/index.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Field } from '../../components/field.tsx'
import { desktop } from '../../state/bridge.ts'
import { strings } from '../../strings/index.ts'
import type { Draft, StoreKind } from './first-run.tsx'
import { SetupFrame } from './setup-frame.tsx'
import classes from './store-step.module.css'

const minimumLength = 12

export function StoreStep({
  shell,
  onDraft,
}: {
  readonly shell: ShellView
  readonly onDraft: (draft: Draft) => void
}): ReactElement {
  const text = strings.setup.store
  const stores = useQuery({ queryKey: ['secretStores'], queryFn: () => desktop.setup.secretStores({}) })
  const [chosen, setChosen] = useState<StoreKind>()
  const [passphrase, setPassphrase] = useState('')
  const [repeated, setRepeated] = useState('')
  const [touched, setTouched] = useState(false)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()

  const available = stores.data?.stores.filter((store) => store.available) ?? []
  const kind = chosen ?? available.find((store) => store.kind === 'keychain')?.kind
  const problem =
    passphrase.length < minimumLength ? text.tooShort : passphrase === repeated ? undefined : text.different

  const begin = (): void => {
    if (kind === undefined) return
    setTouched(true)
    if (kind === 'passphrase' && problem !== undefined) return
    setBusy(true)
    setError(undefined)
    desktop.setup
      .begin({ secretStore: kind, ...(kind === 'passphrase' ? { passphrase } : {}) })
      .then((begun) => onDraft({ secretStore: kind, ...begun }))
      .catch(setError)
      .finally(() => setBusy(false))
  }

  const footer = (
    <Button variant="primary" size="decision" disabled={kind === undefined || busy} onClick={begin}>
      {strings.setup.continue}
    </Button>
  )
  return (
    <SetupFrame shell={shell} step={1} title={text.title} intro={text.intro} footer={footer}>
      {stores.isPending && <p role="status">{text.testing}</p>}
      {stores.error !== null && <ErrorNote error={stores.error} />}
      <div role="radiogroup" aria-label={text.title} className={classes['stores']}>
        {stores.data?.stores.map((store) => (
          <label
            key={store.kind}
            className={classes['store']}
            data-selected={kind === store.kind}
            data-disabled={!store.available}
          >
            <input
              type="radio"
              name="store"
              checked={kind === store.kind}
              disabled={!store.available}
              onChange={() => setChosen(store.kind)}
            />
            <span className={classes['text']}>
              <strong>{text.names[store.kind]}</strong>
              <span>{store.detail}</span>
            </span>
            <Remark kind={store.kind} available={store.available} />
          </label>
        ))}
      </div>
      {kind === 'passphrase' && (
        <div className={classes['passphrase']}>
          <Field
            label={text.passphrase}
            hint={text.passphraseHint}
            type="password"
            autoComplete="new-password"
            value={passphrase}
            onValue={setPassphrase}
          />
          <Field
            label={text.repeat}
            type="password"
            autoComplete="new-password"
            value={repeated}
            onValue={setRepeated}
            problem={touched ? problem : undefined}
          />
        </div>
      )}
      {error !== undefined && <ErrorNote error={error} />}
    </SetupFrame>
  )
}

function Remark({ kind, available }: { readonly kind: StoreKind; readonly available: boolean }): ReactElement | null {
  const text = strings.setup.store
  if (!available) return <span className={classes['remark']}>{text.notAvailable}</span>
  if (kind === 'keychain') return <span className={classes['remark']}>{text.recommended}</span>
  if (kind === 'file') {
    return (
      <span className={`${classes['remark']} ${classes['weak']}`}>
        <TriangleAlert aria-hidden />
        {text.weak}
      </span>
    )
  }
  return null
}
