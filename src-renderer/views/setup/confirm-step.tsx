import { Check } from 'lucide-react'
import { type ReactElement, useState } from 'react'
import type { ShellView } from '@shared/contract/index.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { desktop } from '../../state/bridge.ts'
import { strings } from '../../strings/index.ts'
import classes from './confirm-step.module.css'
import type { Draft } from './first-run.tsx'
import { SetupFrame } from './setup-frame.tsx'
import { WordGrid } from './word-grid.tsx'

export interface ConfirmStepProps {
  readonly shell: ShellView
  readonly draft: Draft
  readonly onBack: () => void
}

/** The words are hidden but for three fields; each shows at once whether its word is the right one. */
export function ConfirmStep({ shell, draft, onBack }: ConfirmStepProps): ReactElement {
  const text = strings.setup.confirm
  const [words, setWords] = useState<ReadonlyMap<number, string>>(new Map())
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const given = draft.ask.map((position) => (words.get(position) ?? '').trim().toLowerCase())
  const right = draft.ask.every((position, index) => given[index] === draft.phrase[position - 1])
  const check = (): void => {
    setBusy(true)
    setError(undefined)
    desktop.setup
      .confirm({ words: given })
      .catch(setError)
      .finally(() => setBusy(false))
  }
  const footer = (
    <>
      <Button size="decision" onClick={onBack}>
        {text.backToWords}
      </Button>
      <Button variant="primary" size="decision" type="submit" form="confirm-words" disabled={busy || !right}>
        {text.check}
      </Button>
    </>
  )
  return (
    <SetupFrame
      shell={shell}
      step={2}
      decided={[strings.setup.kept[draft.secretStore]]}
      title={text.title(draft.ask)}
      intro={text.intro}
      footer={footer}
    >
      <form
        id="confirm-words"
        onSubmit={(event) => {
          event.preventDefault()
          if (right) check()
        }}
      >
        <WordGrid count={draft.phrase.length}>
          {(position) =>
            draft.ask.includes(position) ? (
              <WordField
                position={position}
                word={draft.phrase[position - 1] ?? ''}
                first={position === draft.ask[0]}
                value={words.get(position) ?? ''}
                onValue={(value) => setWords(new Map(words).set(position, value))}
              />
            ) : (
              <span aria-hidden className={classes['hidden']}>
                ••••••
              </span>
            )
          }
        </WordGrid>
      </form>
      <p className={classes['hint']}>{text.hint}</p>
      {error !== undefined && <ErrorNote error={error} />}
    </SetupFrame>
  )
}

interface WordFieldProps {
  readonly position: number
  readonly word: string
  readonly first: boolean
  readonly value: string
  readonly onValue: (value: string) => void
}

function WordField({ position, word, first, value, onValue }: WordFieldProps): ReactElement {
  const typed = value.trim().toLowerCase()
  const right = typed === word
  return (
    <span className={classes['field']}>
      <input
        aria-label={strings.setup.confirm.word(position)}
        aria-invalid={!word.startsWith(typed)}
        autoFocus={first}
        autoComplete="off"
        spellCheck={false}
        value={value}
        onChange={(event) => onValue(event.target.value)}
      />
      {right && <Check aria-hidden />}
    </span>
  )
}
