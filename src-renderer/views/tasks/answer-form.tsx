import { type ReactElement, useState } from 'react'
import type { TaskSummaryView } from '@shared/contract/index.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { TextArea } from '../../components/text-area.tsx'
import { node } from '../../state/bridge.ts'
import { strings } from '../../strings/index.ts'
import { FileList } from '../send/file-list.tsx'
import { useFiles } from '../send/use-files.ts'
import classes from './answer-form.module.css'

/** The agent asks: the answer goes on the same task. */
export function AnswerForm({ task }: { readonly task: TaskSummaryView }): ReactElement {
  const text = strings.tasks.detail
  // a repeated press of the button after a lost answer finds the same message
  const [messageId, setMessageId] = useState(() => crypto.randomUUID())
  const [answer, setAnswer] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const files = useFiles(setError)
  const send = (): void => {
    if (answer.trim() === '' || busy) return
    setBusy(true)
    setError(undefined)
    node.tasks
      .send({ agent: task.peer, text: answer, files: [...files.paths], taskId: task.id, messageId, client: 'window' })
      .then(() => {
        setMessageId(crypto.randomUUID())
        setAnswer('')
        files.clear()
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
      <TextArea
        label={
          <>
            {text.answer} <small>{text.answerHint}</small>
          </>
        }
        rows={3}
        value={answer}
        onValue={setAnswer}
        onSend={send}
      />
      <div className={classes['actions']}>
        <FileList files={files} />
        <Button variant="primary" type="submit" disabled={busy || answer.trim() === ''}>
          {text.sendAnswer}
        </Button>
      </div>
      {error !== undefined && <ErrorNote error={error} />}
    </form>
  )
}
