import type { ReactElement } from 'react'
import { clockTime, dateOf, relativeTime } from '@shared/format/index.ts'
import { useNow } from '../state/now.ts'

/** "2 min ago", kept up to date; the full time on hover. */
export function RelativeTime({ at }: { readonly at: number }): ReactElement {
  const now = useNow()
  return (
    <time dateTime={new Date(at).toISOString()} title={`${dateOf(at)}, ${clockTime(at, true)}`}>
      {relativeTime(at, Math.max(now, at))}
    </time>
  )
}
