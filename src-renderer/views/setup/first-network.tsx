import { CircleHelp, FlaskConical, LogIn, MessageSquare, ScrollText } from 'lucide-react'
import { type ReactElement, useState } from 'react'
import type { NodeView, ShellView } from '@shared/contract/index.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Field } from '../../components/field.tsx'
import { desktop, node as nodeClient } from '../../state/bridge.ts'
import { strings } from '../../strings/index.ts'
import classes from './first-network.module.css'
import { SetupFrame } from './setup-frame.tsx'

export interface FirstNetworkProps {
  readonly shell: ShellView
  readonly node: NodeView
  readonly onLater: () => void
}

/** Step 3, as long as the node knows no hub. */
export function FirstNetwork({ shell, node, onLater }: FirstNetworkProps): ReactElement {
  const text = strings.setup.network
  const footer = (
    <Button variant="ghost" size="decision" onClick={onLater}>
      {text.later}
    </Button>
  )
  return (
    <SetupFrame
      shell={shell}
      step={3}
      decided={[strings.setup.kept[node.secretStore], strings.setup.written]}
      title={text.title}
      intro={text.intro}
      footer={footer}
    >
      <div className={classes['choices']}>
        <DemoChoice shell={shell} />
        <JoinChoice />
      </div>
      <p className={classes['note']}>{text.demo.note(shell.demo.dataDir)}</p>
    </SetupFrame>
  )
}

const agentIcons = [MessageSquare, ScrollText, CircleHelp]

function DemoChoice({ shell }: { readonly shell: ShellView }): ReactElement {
  const text = strings.setup.network.demo
  const [error, setError] = useState<unknown>()
  const starting = shell.demo.state === 'starting'
  return (
    <section className={classes['choice']}>
      <FlaskConical aria-hidden />
      <h2>{text.title}</h2>
      <p>{text.text}</p>
      <ul>
        {text.agents.map((agent, index) => {
          const Icon = agentIcons[index] ?? MessageSquare
          return (
            <li key={agent}>
              <Icon aria-hidden />
              {agent}
            </li>
          )
        })}
      </ul>
      {shell.demo.error !== null && <p role="alert">{shell.demo.error.message}</p>}
      {error !== undefined && <ErrorNote error={error} />}
      <Button
        variant="primary"
        size="decision"
        disabled={starting}
        onClick={() => {
          setError(undefined)
          desktop.setup.startDemo({}).catch(setError)
        }}
      >
        {starting ? text.starting : text.start}
      </Button>
    </section>
  )
}

function JoinChoice(): ReactElement {
  const text = strings.setup.network.join
  const [url, setUrl] = useState('')
  const [invite, setInvite] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const join = (): void => {
    setBusy(true)
    setError(undefined)
    nodeClient.hub
      .join({ url: url.trim(), ...(invite.trim() === '' ? {} : { invite: invite.trim() }) })
      .catch(setError)
      .finally(() => setBusy(false))
  }
  return (
    <form
      className={classes['choice']}
      onSubmit={(event) => {
        event.preventDefault()
        join()
      }}
    >
      <LogIn aria-hidden />
      <h2>{text.title}</h2>
      <p>{text.text}</p>
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
