import { Download, FileText } from 'lucide-react'
import { type ReactElement, useState } from 'react'
import { z } from 'zod'
import { anetKeys, type Part } from '@shared/a2a/index.ts'
import type { TaskSummaryView } from '@shared/contract/index.ts'
import { byteSize } from '@shared/format/index.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { InertText } from '../../components/inert-text.tsx'
import { JsonBlock } from '../../components/json-block.tsx'
import { Theirs } from '../../components/theirs.tsx'
import { desktop } from '../../state/bridge.ts'
import { useToasts } from '../../state/toasts.ts'
import { strings } from '../../strings/index.ts'
import classes from './parts.module.css'

const fileSchema = z.object({ size: z.number() })

export interface PartsProps {
  readonly task: Pick<TaskSummaryView, 'id' | 'requester'>
  /** Number of the entry that the parts belong to. */
  readonly seq: number
  readonly parts: readonly Part[]
  /** True for text of the remote agent: shown as such. */
  readonly theirs: boolean
  readonly source: string
}

/** Texts, data and files of a message or an artifact. */
export function Parts({ task, seq, parts, theirs, source }: PartsProps): ReactElement {
  return (
    <div className={classes['parts']}>
      {parts.map((part, index) => {
        const file = fileSchema.safeParse(part.metadata?.[anetKeys.file])
        // the index is the part's name in the contract
        if (part.raw !== undefined || file.success) {
          return (
            <FilePart
              key={index}
              task={task}
              seq={seq}
              index={index}
              part={part}
              size={file.success ? file.data.size : undefined}
            />
          )
        }
        if (part.text !== undefined) {
          return theirs ? (
            <Theirs key={index} source={source} text={part.text} />
          ) : (
            <p key={index} className={`${classes['text']} selectable`}>
              <InertText text={part.text} limit={20_000} />
            </p>
          )
        }
        return <JsonBlock key={index} value={part.data ?? part.url} />
      })}
    </div>
  )
}

interface FilePartProps {
  readonly task: Pick<TaskSummaryView, 'id' | 'requester'>
  readonly seq: number
  readonly index: number
  readonly part: Part
  readonly size: number | undefined
}

function FilePart({ task, seq, index, part, size }: FilePartProps): ReactElement {
  const text = strings.tasks.detail
  const showToast = useToasts((toasts) => toasts.show)
  const [error, setError] = useState<unknown>()
  const name = part.filename ?? text.unnamed
  const save = (): void => {
    setError(undefined)
    desktop.shell
      .saveFile({ id: task.id, requester: task.requester, seq, part: index, suggestedName: name.slice(0, 255) })
      .then(({ path }) => {
        if (path === null) return
        const action = { label: text.showFile, run: () => void desktop.shell.showSavedFile({ path }) }
        showToast({ tone: 'ok', text: text.saved(path.slice(path.lastIndexOf('/') + 1)), action })
      })
      .catch(setError)
  }
  return (
    <div>
      <div className={classes['file']}>
        <FileText aria-hidden />
        <span className={classes['fileName']}>
          <InertText text={name} limit={120} />
        </span>
        <small>{[part.mediaType, size === undefined ? undefined : byteSize(size)].filter(Boolean).join(', ')}</small>
        {seq >= 0 && (
          <Button variant="ghost" icon={<Download aria-hidden />} onClick={save}>
            {text.save}
          </Button>
        )}
      </div>
      {error !== undefined && <ErrorNote error={error} />}
    </div>
  )
}
