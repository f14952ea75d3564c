import { type InputHTMLAttributes, type ReactElement, useId } from 'react'
import classes from './field.module.css'

export interface FieldProps extends Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange' | 'value'> {
  readonly label: string
  readonly value: string
  readonly onValue: (value: string) => void
  readonly hint?: string | undefined
  readonly problem?: string | undefined
}

/** A labelled line of text; what is wrong with it is said below it. */
export function Field({ label, value, onValue, hint, problem, ...rest }: FieldProps): ReactElement {
  const id = useId()
  const note = problem ?? hint
  return (
    <div className={classes['field']}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        value={value}
        aria-invalid={problem !== undefined}
        aria-describedby={note === undefined ? undefined : `${id}-note`}
        onChange={(event) => onValue(event.target.value)}
        {...rest}
      />
      {note !== undefined && (
        <p id={`${id}-note`} className={problem === undefined ? classes['hint'] : classes['problem']}>
          {note}
        </p>
      )}
    </div>
  )
}
