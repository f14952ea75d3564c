import { type ReactElement, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Field } from '../../components/field.tsx'
import { node } from '../../state/bridge.ts'
import { strings } from '../../strings/index.ts'
import classes from './join-form.module.css'

/** Address and invite of a hub. The node pins the hub's identity at its first answer. */
export function JoinForm(): ReactElement {
  const text = strings.setup.network.join
  const [url, setUrl] = useState('')
  const [invite, setInvite] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const join = (): void => {
    setBusy(true)
    setError(undefined)
    node.hub
      .join({ url: url.trim(), ...(invite.trim() === '' ? {} : { invite: invite.trim() }) })
      .catch(setError)
      .finally(() => setBusy(false))
  }
  return (
    <form
      className={classes['form']}
      onSubmit={(event) => {
        event.preventDefault()
        join()
      }}
    >
      <Field
        label={text.address}
        placeholder="https://hub.example.org"
        spellCheck={false}
        value={url}
        onValue={setUrl}
      />
      <Field label={text.invite} spellCheck={false} value={invite} onValue={setInvite} />
      {error !== undefined && <ErrorNote error={error} />}
      <Button size="decision" type="submit" disabled={busy || url.trim() === ''}>
        {busy ? text.joining : text.join}
      </Button>
    </form>
  )
}
