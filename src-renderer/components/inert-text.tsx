import type { ReactElement } from 'react'
import { textRuns } from '@shared/format/index.ts'
import classes from './inert-text.module.css'

export interface InertTextProps {
  readonly text: string
  readonly limit?: number
  /** Cut at the end of the line, with an ellipsis. */
  readonly clip?: boolean
}

/** Text of a remote agent: no markup, control and direction characters shown as chips. */
export function InertText({ text, limit = 2000, clip = false }: InertTextProps): ReactElement {
  const cut = text.length > limit
  return (
    <bdi className={clip ? classes['clip'] : undefined}>
      {textRuns(cut ? text.slice(0, limit) : text).map((run, index) =>
        run.kind === 'text' ? (
          run.text
        ) : (
          // runs of one text never change their order
          <span key={index} className={classes['control']}>
            {run.text}
          </span>
        ),
      )}
      {cut && '…'}
    </bdi>
  )
}
