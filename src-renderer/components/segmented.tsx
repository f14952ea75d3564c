import { type ReactElement, useId } from 'react'
import classes from './segmented.module.css'

export interface SegmentedProps<T extends string> {
  readonly label: string
  readonly options: readonly T[]
  readonly names: Readonly<Record<T, string>>
  readonly value: T
  readonly onValue: (value: T) => void
}

/** One of a few settings; a radio group, so that arrow keys move in it. */
export function Segmented<T extends string>({
  label,
  options,
  names,
  value,
  onValue,
}: SegmentedProps<T>): ReactElement {
  const group = useId()
  return (
    <div role="radiogroup" aria-label={label} className={classes['segments']}>
      {options.map((option) => (
        <label key={option} data-selected={value === option}>
          <input
            type="radio"
            className="visually-hidden"
            name={group}
            checked={value === option}
            onChange={() => onValue(option)}
          />
          {names[option]}
        </label>
      ))}
    </div>
  )
}
