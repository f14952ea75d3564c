import type { ReactElement } from 'react'
import { strings } from '../strings/index.ts'
import classes from './skeleton.module.css'

/** Rows in the place of what is being asked for. */
export function Skeleton({ rows }: { readonly rows: number }): ReactElement {
  return (
    <div className={classes['skeleton']} role="status" aria-label={strings.common.loading}>
      {Array.from({ length: rows }, (_, index) => (
        // all rows are alike
        <span key={index} />
      ))}
    </div>
  )
}
