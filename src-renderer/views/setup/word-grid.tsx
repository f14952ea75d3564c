import type { ReactElement, ReactNode } from 'react'
import classes from './word-grid.module.css'

/** The recovery phrase in four columns of six, numbered from 1. */
export function WordGrid({
  count,
  children,
}: {
  readonly count: number
  readonly children: (position: number) => ReactNode
}): ReactElement {
  return (
    <ol className={classes['words']}>
      {Array.from({ length: count }, (_, index) => (
        // the position is the word's identity
        <li key={index}>
          <span className={classes['number']} aria-hidden>
            {index + 1}
          </span>
          {children(index + 1)}
        </li>
      ))}
    </ol>
  )
}
