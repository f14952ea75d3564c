import { ArrowDownLeft, ArrowUpRight, Radio, X } from 'lucide-react'
import { Tabs } from 'radix-ui'
import { type ReactElement, useState } from 'react'
import { isTerminal } from '@shared/a2a/index.ts'
import type { TaskDetailView } from '@shared/contract/index.ts'
import { Button } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { InertText } from '../../components/inert-text.tsx'
import { JsonBlock } from '../../components/json-block.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { StateLabel, TaskStateLabel } from '../../components/state-label.tsx'
import { node } from '../../state/bridge.ts'
import { useNavigation } from '../../state/navigation.ts'
import { useTask } from '../../state/queries.ts'
import { strings } from '../../strings/index.ts'
import { AnswerForm } from './answer-form.tsx'
import { EvidenceTable } from './evidence-table.tsx'
import classes from './task-detail.module.css'
import { Timeline } from './timeline.tsx'

export function TaskDetail({ task: key }: { readonly task: { id: string; requester: string } }): ReactElement {
  const { data: task, error, isPending } = useTask(key)
  return (
    <section className={classes['detail']} aria-label={strings.tasks.detail.label}>
      {isPending && <Skeleton rows={6} />}
      {error !== null && <ErrorNote error={error} />}
      {task !== undefined && <Content task={task} />}
    </section>
  )
}

function Content({ task }: { readonly task: TaskDetailView }): ReactElement {
  const text = strings.tasks.detail
  const open = !isTerminal(task.state)
  return (
    <Tabs.Root defaultValue="timeline" className={classes['tabs']}>
      <Header task={task} />
      <Tabs.List className={classes['tabList']}>
        <Tabs.Trigger value="timeline">{text.timeline}</Tabs.Trigger>
        <Tabs.Trigger value="evidence">
          {text.evidence} <span>{task.evidence.length}</span>
        </Tabs.Trigger>
        <Tabs.Trigger value="raw">{text.raw}</Tabs.Trigger>
        {open && (
          <span className={classes['live']}>
            <StateLabel icon={Radio} tone="running">
              {text.live}
            </StateLabel>
          </span>
        )}
      </Tabs.List>
      <Tabs.Content value="timeline" className={classes['content']} tabIndex={-1}>
        <Timeline task={task} />
        {task.direction === 'out' && task.state === 'TASK_STATE_INPUT_REQUIRED' && <AnswerForm task={task} />}
      </Tabs.Content>
      <Tabs.Content value="evidence" className={classes['content']} tabIndex={-1}>
        <EvidenceTable evidence={task.evidence} />
      </Tabs.Content>
      <Tabs.Content value="raw" className={classes['content']} tabIndex={-1}>
        <JsonBlock value={task} />
      </Tabs.Content>
    </Tabs.Root>
  )
}

function Header({ task }: { readonly task: TaskDetailView }): ReactElement {
  const text = strings.tasks.detail
  const { go } = useNavigation()
  const [error, setError] = useState<unknown>()
  const Arrow = task.direction === 'out' ? ArrowUpRight : ArrowDownLeft
  const cancel = (): void => {
    setError(undefined)
    node.tasks.cancel({ id: task.id, requester: task.requester }).catch(setError)
  }
  return (
    <header className={classes['header']}>
      <div className={classes['titleLine']}>
        <h2>
          <InertText text={task.title} limit={120} clip />
        </h2>
        <TaskStateLabel task={task} />
        {!isTerminal(task.state) && (
          <Button
            className={classes['cancel']}
            icon={<X aria-hidden />}
            disabled={task.cancelRequested}
            onClick={cancel}
          >
            {task.cancelRequested ? text.cancelRequested : text.cancel}
          </Button>
        )}
      </div>
      <div className={classes['facts']}>
        <span>
          <Arrow aria-hidden />
          {task.direction === 'out' ? text.toLabel : text.fromLabel}{' '}
          <Button variant="link" onClick={() => go({ view: 'agents', aid: task.peer })}>
            <InertText text={task.peerName} limit={80} />
          </Button>
        </span>
        <span>
          {text.task} <code title={task.id}>{task.id.slice(0, 8)}…</code>
          <CopyButton text={task.id} what="task id" />
        </span>
      </div>
      {task.reason !== null && (
        <p className={classes['reason']}>{text.reasons[task.reason] ?? text.reason(task.reason)}</p>
      )}
      {error !== undefined && <ErrorNote error={error} />}
    </header>
  )
}
