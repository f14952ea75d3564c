import { CircleHelp, FlaskConical, LogIn, MessageSquare, ScrollText } from 'lucide-react'
import { type ReactElement, useState } from 'react'
import type { NodeView, ShellView } from '@shared/contract/index.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { desktop } from '../../state/bridge.ts'
import { strings } from '../../strings/index.ts'
import classes from './first-network.module.css'
import { JoinForm } from './join-form.tsx'
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
  return (
    <section className={classes['choice']}>
      <LogIn aria-hidden />
      <h2>{text.title}</h2>
      <p>{text.text}</p>
      <JoinForm />
    </section>
  )
}
