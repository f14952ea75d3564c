import { Check } from 'lucide-react'
import type { ReactElement, ReactNode } from 'react'
import type { ShellView } from '@shared/contract/index.ts'
import { Logo } from '../../components/logo.tsx'
import { strings } from '../../strings/index.ts'
import classes from './setup-frame.module.css'

export interface SetupFrameProps {
  readonly shell: ShellView
  readonly title: string
  readonly intro: string
  /** 1 to 3; absent outside the first run. */
  readonly step?: number
  /** What was decided in the steps before, one line each. */
  readonly decided?: readonly string[]
  readonly children: ReactNode
  /** Buttons of the step, right-aligned. */
  readonly footer: ReactNode
}

/** The frame of everything that comes before the views: steps on the left, one question on the right. */
export function SetupFrame({
  shell,
  title,
  intro,
  step,
  decided = [],
  children,
  footer,
}: SetupFrameProps): ReactElement {
  return (
    <div className={classes['frame']}>
      <aside className={classes['side']}>
        <Logo size={30} />
        <p className={classes['name']}>{step === undefined ? strings.common.product : strings.setup.title}</p>
        {step !== undefined && <p className={classes['muted']}>{strings.setup.intro}</p>}
        {step !== undefined && <Steps step={step} decided={decided} />}
        <p className={classes['version']}>
          {strings.setup.version(shell.version)} <code className="selectable">{shell.dataDir}</code>
        </p>
      </aside>
      <main className={classes['main']}>
        <div className={classes['content']}>
          <h1>{title}</h1>
          <p className={classes['muted']}>{intro}</p>
          {children}
        </div>
        <footer className={classes['footer']}>
          <span className={classes['muted']}>{step !== undefined && strings.setup.step(step)}</span>
          <div className={classes['buttons']}>{footer}</div>
        </footer>
      </main>
    </div>
  )
}

function Steps({ step, decided }: { readonly step: number; readonly decided: readonly string[] }): ReactElement {
  return (
    <ol className={classes['steps']} aria-label={strings.setup.stepsName}>
      {strings.setup.steps.map((name, index) => {
        const state = index + 1 < step ? 'done' : index + 1 === step ? 'current' : 'open'
        return (
          <li key={name} className={classes[state]} aria-current={state === 'current' ? 'step' : undefined}>
            <span className={classes['mark']}>{state === 'done' ? <Check aria-hidden /> : index + 1}</span>
            <span>
              {name}
              {state === 'done' && decided[index] !== undefined && <small>{decided[index]}</small>}
            </span>
          </li>
        )
      })}
    </ol>
  )
}
