import type { ReactElement, ReactNode } from 'react'
import classes from './view-frame.module.css'

export interface ViewFrameProps {
  readonly title: string
  readonly count?: number | undefined
  /** Right end of the header. */
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** Header of 48 pixels over the view's content, which scrolls by itself. */
export function ViewFrame({ title, count, actions, children }: ViewFrameProps): ReactElement {
  return (
    <main className={classes['view']}>
      <header className={classes['header']}>
        <h1>{title}</h1>
        {count !== undefined && <span className={classes['count']}>{count.toLocaleString('en')}</span>}
        <div className={classes['actions']}>{actions}</div>
      </header>
      <div className={classes['content']}>{children}</div>
    </main>
  )
}
