import { EyeOff, Save } from 'lucide-react'
import { type ReactElement, useState } from 'react'
import type { ShellView } from '@shared/contract/index.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { desktop } from '../../state/bridge.ts'
import { strings } from '../../strings/index.ts'
import type { Draft } from './first-run.tsx'
import classes from './phrase-step.module.css'
import { SetupFrame } from './setup-frame.tsx'
import { WordGrid } from './word-grid.tsx'

export interface PhraseStepProps {
  readonly shell: ShellView
  readonly draft: Draft
  readonly onBack: () => void
  readonly onWritten: () => void
}

export function PhraseStep({ shell, draft, onBack, onWritten }: PhraseStepProps): ReactElement {
  const text = strings.setup.phrase
  const [savedTo, setSavedTo] = useState<string>()
  const [error, setError] = useState<unknown>()
  const save = (): void => {
    setError(undefined)
    desktop.setup
      .saveSheet({})
      .then(({ path }) => path !== null && setSavedTo(path))
      .catch(setError)
  }
  const footer = (
    <>
      <Button size="decision" onClick={onBack}>
        {strings.setup.back}
      </Button>
      <Button variant="primary" size="decision" onClick={onWritten}>
        {text.done}
      </Button>
    </>
  )
  return (
    <SetupFrame
      shell={shell}
      step={2}
      decided={[strings.setup.kept[draft.secretStore]]}
      title={text.title}
      intro={text.intro}
      footer={footer}
    >
      <WordGrid count={draft.phrase.length}>
        {(position) => <code className="selectable">{draft.phrase[position - 1]}</code>}
      </WordGrid>
      <p className={classes['actions']}>
        <Button icon={<Save aria-hidden />} onClick={save}>
          {text.save}
        </Button>
        {savedTo !== undefined && <span role="status">{text.saved(savedTo)}</span>}
      </p>
      {error !== undefined && <ErrorNote error={error} />}
      <p className={classes['note']}>
        <EyeOff aria-hidden />
        <span>
          <strong>{text.paper}</strong> {text.next}
        </span>
      </p>
    </SetupFrame>
  )
}
