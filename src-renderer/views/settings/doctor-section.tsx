import { Check, CircleX, RefreshCw, TriangleAlert } from 'lucide-react'
import type { ReactElement } from 'react'
import type { CheckView } from '@shared/contract/index.ts'
import { Button } from '../../components/button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { StateLabel } from '../../components/state-label.tsx'
import { useDoctor } from '../../state/queries.ts'
import { strings } from '../../strings/index.ts'
import classes from './doctor-section.module.css'
import common from './settings-view.module.css'

/** The same list as `anet doctor`. */
export function DoctorSection(): ReactElement {
  const text = strings.settings.doctor
  const { data, error, isPending, isFetching, refetch } = useDoctor()
  return (
    <>
      <p className={common['intro']}>{text.intro}</p>
      <Button icon={<RefreshCw aria-hidden />} disabled={isFetching} onClick={() => void refetch()}>
        {text.again}
      </Button>
      {isPending && <Skeleton rows={6} />}
      {error !== null && <ErrorNote error={error} />}
      <ul className={classes['checks']}>
        {data?.checks.map((check) => (
          <CheckRow key={check.name} check={check} />
        ))}
      </ul>
    </>
  )
}

const marks = {
  ok: { icon: Check, tone: 'normal' },
  warn: { icon: TriangleAlert, tone: 'attention' },
  fail: { icon: CircleX, tone: 'failure' },
} as const

function CheckRow({ check }: { readonly check: CheckView }): ReactElement {
  const { icon, tone } = marks[check.outcome]
  return (
    <li>
      <span className={classes['outcome']}>
        <StateLabel icon={icon} tone={tone}>
          {strings.settings.doctor.outcomes[check.outcome]}
        </StateLabel>
      </span>
      <div>
        <strong>{check.name}</strong>
        <p className="selectable">{check.seen}</p>
        {check.remedy !== null && <p className={classes['remedy']}>{check.remedy}</p>}
      </div>
    </li>
  )
}
