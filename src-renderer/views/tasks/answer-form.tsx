import { type ReactElement, useId, useState } from 'react'
import type { TaskSummaryView } from '@shared/contract/index.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { desktop, node } from '../../state/bridge.ts'
import { strings } from '../../strings/index.ts'
import { FileList } from '../send/file-list.tsx'
import classes from './answer-form.module.css'

/** The agent asks: the answer goes on the same task. */
export function AnswerForm({ task }: { readonly task: TaskSummaryView }): ReactElement {
  const text = strings.tasks.detail
  const id = useId()
  // a repeated press of the button after a lost answer finds the same message
  const [messageId, setMessageId] = useState(() => crypto.randomUUID())
  const [answer, setAnswer] = useState('')
  const [files, setFiles] = useState<readonly string[]>([])
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const send = (): void => {
    if (answer.trim() === '' || busy) return
    setBusy(true)
    setError(undefined)
    node.tasks
      .send({ agent: task.peer, text: answer, files: [...files], taskId: task.id, messageId, client: 'window' })
      .then(() => {
        setMessageId(crypto.randomUUID())
        setAnswer('')
        setFiles([])
      })
      .catch(setError)
      .finally(() => setBusy(false))
  }
  return (
    <form
      className={classes['form']}
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <label htmlFor={id}>
        {text.answer} <small>{text.answerHint}</small>
      </label>
      <textarea
        id={id}
        rows={3}
        value={answer}
        onChange={(event) => setAnswer(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send()
        }}
      />
      <div className={classes['actions']}>
        <FileList
          files={files}
          onRemove={(path) => setFiles(files.filter((file) => file !== path))}
          onAdd={() => {
            desktop.shell
              .chooseFiles({})
              .then(({ paths }) => setFiles((chosen) => [...new Set([...chosen, ...paths])]))
              .catch(setError)
          }}
        />
        <Button variant="primary" type="submit" disabled={busy || answer.trim() === ''}>
          {text.sendAnswer}
        </Button>
      </div>
      {error !== undefined && <ErrorNote error={error} />}
    </form>
  )
}
