import { CircleAlert, CircleCheck, CircleDashed } from 'lucide-react'
import type { ReactElement } from 'react'
import type { NodeView } from '@shared/contract/index.ts'
import { durationWords } from '@shared/format/index.ts'
import { Button } from '../../components/button.tsx'
import { ViewFrame } from '../../components/view-frame.tsx'
import { useMirror } from '../../state/mirror.ts'
import { useNavigation } from '../../state/navigation.ts'
import { useDoctor } from '../../state/queries.ts'
import { useNow } from '../../state/now.ts'
import { strings } from '../../strings/index.ts'
import { AddressPanel } from './address-panel.tsx'
import classes from './overview-view.module.css'
import { RecentTasks } from './recent-tasks.tsx'
import { WaitingPanel } from './waiting-panel.tsx'

/** At a glance: is the node up and reachable, what is its address, what waits. */
export function OverviewView(): ReactElement | null {
  const node = useMirror((mirror) => mirror.node)
  if (node === undefined) return null
  return (
    <ViewFrame title={strings.overview.title} actions={<DoctorLink />}>
      <div className={classes['scroll']}>
        <Sentence node={node} />
        <div className={classes['columns']}>
          <div className={classes['column']}>
            <AddressPanel endpoint={node.endpoint} />
            <RecentTasks />
          </div>
          <div className={classes['column']}>
            <WaitingPanel />
          </div>
        </div>
      </div>
    </ViewFrame>
  )
}

function Sentence({ node }: { readonly node: NodeView }): ReactElement {
  const { go } = useNavigation()
  const attached = useMirror((mirror) => mirror.shell?.attached ?? false)
  const now = useNow()
  const text = strings.overview
  const failing =
    node.endpoint.conflict !== null ||
    node.endpoint.state === 'failed' ||
    node.endpoint.state === 'address_file_invalid'
  const good = node.join.state === 'joined' && !failing
  const Icon = failing ? CircleAlert : good ? CircleCheck : CircleDashed
  const facts = [
    text.agents(node.counts.agents),
    text.running(durationWords(now - node.startedAt)),
    ...(attached ? [text.attached] : []),
  ]
  return (
    <div className={classes['sentence']}>
      <Icon aria-hidden className={failing ? classes['danger'] : good ? classes['ok'] : classes['warn']} />
      <div>
        <h2>{text.sentence(node)}</h2>
        {!good && <p>{failing && node.endpoint.conflict === null ? node.endpoint.sentence : node.join.sentence}</p>}
      </div>
      {node.join.state === 'no_hub' && (
        <Button variant="primary" onClick={() => go({ view: 'settings' })}>
          {text.joinHub}
        </Button>
      )}
      <p className={classes['facts']}>{facts.join(' · ')}</p>
    </div>
  )
}

function DoctorLink(): ReactElement | null {
  const { go } = useNavigation()
  const { data } = useDoctor()
  if (data === undefined) return null
  const passing = data.checks.filter((check) => check.outcome === 'ok').length
  const all = data.checks.length
  const Icon = passing === all ? CircleCheck : CircleAlert
  return (
    <Button variant="ghost" icon={<Icon aria-hidden />} onClick={() => go({ view: 'settings' })}>
      {strings.overview.doctor(passing, all)}
    </Button>
  )
}
