import type { ReactElement, ReactNode } from 'react'
import classes from './two-columns.module.css'

/** A list of 304 pixels and what is selected in it. */
export function TwoColumns({ list, detail }: { readonly list: ReactNode; readonly detail: ReactNode }): ReactElement {
  return (
    <>
      <div className={classes['list']}>{list}</div>
      <div className={classes['detail']}>{detail}</div>
    </>
  )
}
