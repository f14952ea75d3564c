import { type ReactElement, useState } from 'react'
import type { NodeView, ShellView } from '@shared/contract/index.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { desktop } from '../../state/bridge.ts'
import { useToasts } from '../../state/toasts.ts'
import { strings } from '../../strings/index.ts'
import { JoinForm } from '../setup/join-form.tsx'
import classes from './settings-view.module.css'

export function HubSection({ shell, node }: { readonly shell: ShellView; readonly node: NodeView }): ReactElement {
  const text = strings.settings.hub
  const { hub } = node.join
  return (
    <>
      <p className={classes['intro']}>{text.intro}</p>
      <dl className={classes['facts']}>
        <dt>{text.state}</dt>
        <dd>{node.join.sentence}</dd>
        {hub !== null && (
          <>
            <dt>{text.name}</dt>
            <dd>{hub.name}</dd>
            <dt>{text.address}</dt>
            <dd>
              <code className="selectable">{hub.url}</code>
            </dd>
            <dt>{text.aid}</dt>
            <dd>
              <code className="selectable">{hub.aid}</code>
            </dd>
          </>
        )}
      </dl>
      <h3>{hub === null ? text.joinFirst : text.join}</h3>
      <div className={classes['form']}>
        <JoinForm />
      </div>
      <h3>{text.demo}</h3>
      <p className={classes['intro']}>{text.demoIntro(shell.demo.dataDir)}</p>
      <DemoButtons shell={shell} />
    </>
  )
}

function DemoButtons({ shell }: { readonly shell: ShellView }): ReactElement {
  const text = strings.settings.hub
  const showToast = useToasts((toasts) => toasts.show)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const run = (call: () => Promise<unknown>): void => {
    setBusy(true)
    setError(undefined)
    call()
      .catch(setError)
      .finally(() => setBusy(false))
  }
  const { state } = shell.demo
  return (
    <>
      <div className={classes['buttons']}>
        <span>{text.demoStates[state]}</span>
        {(state === 'absent' || state === 'failed') && (
          <Button disabled={busy || shell.attached} onClick={() => run(() => desktop.setup.startDemo({}))}>
            {text.demoStart}
          </Button>
        )}
        {state !== 'absent' && (
          <Button
            variant="danger"
            disabled={busy || state === 'starting'}
            onClick={() =>
              run(() => desktop.setup.removeDemo({}).then(() => showToast({ tone: 'ok', text: text.demoRemoved })))
            }
          >
            {text.demoRemove}
          </Button>
        )}
      </div>
      {error !== undefined && <ErrorNote error={error} />}
      {shell.demo.error !== null && <p role="alert">{shell.demo.error.message}</p>}
    </>
  )
}
