import { CircleAlert, RefreshCw } from 'lucide-react'
import { type ReactElement, useState } from 'react'
import { clockTime } from '@shared/format/index.ts'
import type { EndpointView } from '@shared/contract/index.ts'
import { node } from '../state/bridge.ts'
import { strings } from '../strings/index.ts'
import { Button } from './button.tsx'
import { CopyButton } from './copy-button.tsx'
import { ErrorNote } from './error-note.tsx'
import classes from './conflict-banner.module.css'

type Conflict = NonNullable<EndpointView['conflict']>

/** In every view while another program holds the recorded port: one line, or with its details where there is room. */
export function ConflictBanner({
  conflict,
  expanded,
}: {
  readonly conflict: Conflict
  readonly expanded: boolean
}): ReactElement {
  const [details, setDetails] = useState(expanded)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const retry = (): void => {
    setBusy(true)
    setError(undefined)
    node.endpoint
      .retry({})
      .catch(setError)
      .finally(() => setBusy(false))
  }
  const text = strings.common.conflict
  return (
    <section className={classes['banner']} role="alert" aria-label={text.label}>
      <div className={classes['line']}>
        <CircleAlert aria-hidden />
        <strong>{text.sentence(conflict)}</strong>
        <Button variant="primary" icon={<RefreshCw aria-hidden />} disabled={busy} onClick={retry}>
          {strings.common.tryAgain}
        </Button>
        <Button variant="ghost" aria-expanded={details} onClick={() => setDetails(!details)}>
          {details ? text.hideDetails : text.details}
        </Button>
      </div>
      {details && (
        <div className={classes['details']}>
          <Facts conflict={conflict} />
          <div>
            <ol className={classes['steps']}>
              {conflict.remedy.map((step) => (
                <li key={step}>{step}</li>
              ))}
            </ol>
            <CopyButton text={text.report(conflict)} what={text.detailsName} label={text.copyDetails} />
          </div>
        </div>
      )}
      {error !== undefined && <ErrorNote error={error} />}
    </section>
  )
}

function Facts({ conflict }: { readonly conflict: Conflict }): ReactElement {
  const { holder } = conflict
  const text = strings.common.conflict
  return (
    <dl className={classes['facts']}>
      <dt>{text.address}</dt>
      <dd>
        <code>{conflict.address}</code>
      </dd>
      <dt>{text.program}</dt>
      <dd>
        <code>{holder.command ?? text.unknown}</code>
        {holder.pid !== null && text.process(holder.pid)}
      </dd>
      <dt>{text.user}</dt>
      <dd>{text.userLine(holder)}</dd>
      <dt>{text.since}</dt>
      <dd>{clockTime(conflict.since)}</dd>
    </dl>
  )
}
