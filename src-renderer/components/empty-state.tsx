import type { LucideIcon } from 'lucide-react'
import type { ReactElement, ReactNode } from 'react'
import classes from './empty-state.module.css'

/** Says that there is nothing, and what to do next. */
export function EmptyState({
  icon: Icon,
  title,
  children,
}: {
  readonly icon: LucideIcon
  readonly title: string
  readonly children?: ReactNode
}): ReactElement {
  return (
    <div className={classes['empty']}>
      <Icon aria-hidden />
      <p className={classes['title']}>{title}</p>
      {children}
    </div>
  )
}
