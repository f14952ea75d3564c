import { CircleAlert } from 'lucide-react'
import type { ReactElement, ReactNode } from 'react'
import { errorView } from '@shared/errors.ts'
import classes from './error-note.module.css'

/** What is wrong and what to do, for any error of a call. */
export function ErrorNote({
  error,
  children,
}: {
  readonly error: unknown
  readonly children?: ReactNode
}): ReactElement {
  const view = errorView(error)
  return (
    <div className={classes['note']} role="alert">
      <CircleAlert aria-hidden />
      <div>
        <p>{view.message}</p>
        {view.remedy !== undefined && <p className={classes['remedy']}>{view.remedy}</p>}
        {children}
      </div>
    </div>
  )
}
