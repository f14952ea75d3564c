import { type ReactElement, useState } from 'react'
import type { ShellView } from '@shared/contract/index.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Field } from '../../components/field.tsx'
import { desktop } from '../../state/bridge.ts'
import { strings } from '../../strings/index.ts'
import classes from './confirm-step.module.css'
import type { Draft } from './first-run.tsx'
import { SetupFrame } from './setup-frame.tsx'

export function ConfirmStep({
  shell,
  draft,
  onBack,
}: {
  readonly shell: ShellView
  readonly draft: Draft
  readonly onBack: () => void
}): ReactElement {
  const text = strings.setup.confirm
  const [words, setWords] = useState<readonly string[]>(draft.ask.map(() => ''))
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const check = (): void => {
    setBusy(true)
    setError(undefined)
    desktop.setup
      .confirm({ words: words.map((word) => word.trim().toLowerCase()) })
      .catch(setError)
      .finally(() => setBusy(false))
  }
  const footer = (
    <>
      <Button size="decision" onClick={onBack}>
        {strings.setup.back}
      </Button>
      <Button
        variant="primary"
        size="decision"
        type="submit"
        form="confirm-words"
        disabled={busy || words.some((word) => word.trim() === '')}
      >
        {text.check}
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
      <form
        id="confirm-words"
        className={classes['words']}
        onSubmit={(event) => {
          event.preventDefault()
          check()
        }}
      >
        {draft.ask.map((position, index) => (
          <Field
            key={position}
            label={text.word(position)}
            value={words[index] ?? ''}
            autoFocus={index === 0}
            autoComplete="off"
            spellCheck={false}
            onValue={(value) => setWords(words.map((word, at) => (at === index ? value : word)))}
          />
        ))}
      </form>
      {error !== undefined && <ErrorNote error={error} />}
    </SetupFrame>
  )
}
