import { type ReactElement, type ReactNode, useId } from 'react'
import classes from './text-area.module.css'

export interface TextAreaProps {
  readonly label: ReactNode
  readonly rows: number
  readonly value: string
  readonly onValue: (value: string) => void
  /** Ctrl+Enter. */
  readonly onSend?: () => void
  readonly autoFocus?: boolean
}

/** A labelled text of several lines. */
export function TextArea({ label, rows, value, onValue, onSend, autoFocus = false }: TextAreaProps): ReactElement {
  const id = useId()
  return (
    <div className={classes['area']}>
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        rows={rows}
        autoFocus={autoFocus}
        value={value}
        onChange={(event) => onValue(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onSend?.()
        }}
      />
    </div>
  )
}
