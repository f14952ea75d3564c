import { type ReactElement, useState } from 'react'
import type { InboxItemView } from '@shared/contract/index.ts'
import { AidText } from '../../components/aid.tsx'
import { Button } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { InertText } from '../../components/inert-text.tsx'
import { Notice } from '../../components/notice.tsx'
import { TextArea } from '../../components/text-area.tsx'
import { node } from '../../state/bridge.ts'
import { useNavigation } from '../../state/navigation.ts'
import { strings } from '../../strings/index.ts'
import { FileList } from '../send/file-list.tsx'
import { useFiles } from '../send/use-files.ts'
import { Parts } from '../tasks/parts.tsx'
import classes from './inbox-detail.module.css'

type AnswerKind = 'complete' | 'reply' | 'ask' | 'refuse'

const answerable: ReadonlySet<InboxItemView['state']> = new Set(['waiting', 'awaiting_admission'])

export function InboxDetail({ item }: { readonly item: InboxItemView }): ReactElement {
  const text = strings.inbox
  const { go } = useNavigation()
  const note =
    item.state === 'unverified'
      ? text.unverifiedNote
      : item.state === 'awaiting_admission'
        ? text.admissionNote
        : undefined
  return (
    <section className={classes['detail']}>
      <header className={classes['header']}>
        <h2>
          <InertText text={item.task.peerName} limit={120} />
        </h2>
        <div className={classes['facts']}>
          <AidText aid={item.task.peer} copy />
          {item.trusted && <span>{text.trusted}</span>}
          <span>{text.states[item.state]}</span>
          <Button
            variant="link"
            onClick={() => go({ view: 'tasks', id: item.task.id, requester: item.task.requester })}
          >
            {text.openTask}
          </Button>
        </div>
      </header>
      <div className={classes['body']}>
        {note !== undefined && <Notice>{note}</Notice>}
        <Parts task={item.task} seq={item.seq} parts={item.message.parts} theirs source={item.task.peerName} />
      </div>
      {answerable.has(item.state) && <ReplyForm item={item} />}
    </section>
  )
}

function ReplyForm({ item }: { readonly item: InboxItemView }): ReactElement {
  const text = strings.inbox.reply
  const [reply, setReply] = useState('')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const files = useFiles(setError)
  const answer = (kind: AnswerKind): void => {
    setBusy(true)
    setError(undefined)
    node.inbox
      .answer({ id: item.id, kind, text: reply, files: [...files.paths] })
      .catch(setError)
      .finally(() => setBusy(false))
  }
  const empty = reply.trim() === '' && files.paths.length === 0
  return (
    <form
      className={classes['form']}
      onSubmit={(event) => {
        event.preventDefault()
        if (!empty) answer('complete')
      }}
    >
      <TextArea label={text.label} rows={4} value={reply} onValue={setReply} />
      <FileList files={files} />
      {error !== undefined && <ErrorNote error={error} />}
      <div className={classes['buttons']}>
        <Button variant="danger" size="form" disabled={busy} onClick={() => answer('refuse')}>
          {text.refuse}
        </Button>
        <span />
        <Button size="form" disabled={busy || empty} onClick={() => answer('ask')}>
          {text.ask}
        </Button>
        <Button size="form" disabled={busy || empty} onClick={() => answer('reply')}>
          {text.reply}
        </Button>
        <Button variant="primary" size="form" type="submit" disabled={busy || empty}>
          {text.complete}
        </Button>
      </div>
    </form>
  )
}
