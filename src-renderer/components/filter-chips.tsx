import type { ReactElement } from 'react'
import classes from './filter-chips.module.css'

export interface FilterChipsProps<T extends string> {
  readonly label: string
  readonly options: readonly T[]
  readonly names: Readonly<Record<T, string>>
  readonly value: T
  readonly onValue: (value: T) => void
}

/** One of several filters, always visible. */
export function FilterChips<T extends string>({
  label,
  options,
  names,
  value,
  onValue,
}: FilterChipsProps<T>): ReactElement {
  return (
    <div role="group" aria-label={label} className={classes['chips']}>
      {options.map((option) => (
        <button key={option} type="button" aria-pressed={value === option} onClick={() => onValue(option)}>
          {names[option]}
        </button>
      ))}
    </div>
  )
}
