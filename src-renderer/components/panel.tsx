import type { ReactElement, ReactNode } from 'react'
import classes from './panel.module.css'

export interface PanelProps {
  readonly title?: string
  /** An accent pill beside the title: that many wait. */
  readonly count?: number
  readonly action?: ReactNode
  readonly children: ReactNode
}

/** A bordered region; its rows are divided by lines. */
export function Panel({ title, count = 0, action, children }: PanelProps): ReactElement {
  return (
    <section className={classes['panel']} aria-label={title}>
      {title !== undefined && (
        <header className={classes['header']}>
          <h3>{title}</h3>
          {count > 0 && <span className={classes['count']}>{count}</span>}
          <span className={classes['action']}>{action}</span>
        </header>
      )}
      {children}
    </section>
  )
}
