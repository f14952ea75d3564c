import { CircleAlert } from 'lucide-react'
import type { ReactElement, ReactNode } from 'react'
import classes from './notice.module.css'

/** Something to know before acting; not an error. */
export function Notice({ children }: { readonly children: ReactNode }): ReactElement {
  return (
    <p className={classes['notice']}>
      <CircleAlert aria-hidden />
      {children}
    </p>
  )
}
