import { type ReactElement, useId, useState } from 'react'
import type { AgentView } from '@shared/contract/index.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import classes from '../../components/field.module.css'
import { ErrorNote } from '../../components/error-note.tsx'
import { TextArea } from '../../components/text-area.tsx'
import { node } from '../../state/bridge.ts'
import { useNavigation } from '../../state/navigation.ts'
import { strings } from '../../strings/index.ts'
import { visibleText } from '@shared/format/index.ts'
import { FileList } from './file-list.tsx'
import { useFiles } from './use-files.ts'

/** One messageId for one dialog: pressing Send again after a lost answer finds the same task. */
function newMessageId(): string {
  return crypto.randomUUID()
}

export function SendDialog({
  agent,
  onClose,
}: {
  readonly agent: AgentView
  readonly onClose: () => void
}): ReactElement {
  const text = strings.send
  const { go } = useNavigation()
  const [messageId] = useState(newMessageId)
  const [task, setTask] = useState('')
  const [skill, setSkill] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const files = useFiles(setError)
  const skillId = useId()

  const send = (): void => {
    if (task.trim() === '' || busy) return
    setBusy(true)
    setError(undefined)
    node.tasks
      .send({
        agent: agent.aid,
        text: task,
        files: [...files.paths],
        messageId,
        client: 'window',
        ...(skill === '' ? {} : { skill }),
      })
      .then(({ task: sent }) => {
        onClose()
        go({ view: 'tasks', id: sent.id, requester: sent.requester })
      })
      .catch(setError)
      .finally(() => setBusy(false))
  }
  return (
    <Dialog
      title={text.title(visibleText(agent.name))}
      onClose={onClose}
      onSubmit={send}
      footer={
        <>
          <Button size="form" onClick={onClose}>
            {strings.common.cancel}
          </Button>
          <Button variant="primary" size="form" type="submit" disabled={busy || task.trim() === ''}>
            {busy ? text.sending : text.send}
          </Button>
        </>
      }
    >
      <TextArea label={text.text} rows={6} autoFocus value={task} onValue={setTask} onSend={send} />
      {agent.skills.length > 1 && (
        <div className={classes['field']}>
          <label htmlFor={skillId}>{text.skill}</label>
          <select id={skillId} value={skill} onChange={(event) => setSkill(event.target.value)}>
            <option value="">{text.anySkill}</option>
            {agent.skills.map(({ id, name }) => (
              <option key={id} value={id}>
                {visibleText(name)}
              </option>
            ))}
          </select>
        </div>
      )}
      <FileList files={files} />
      {error !== undefined && <ErrorNote error={error} />}
    </Dialog>
  )
}
