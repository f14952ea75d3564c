import { Send, X } from 'lucide-react'
import { type ReactElement, useState } from 'react'
import type { AgentDetailView } from '@shared/contract/index.ts'
import { AidText } from '../../components/aid.tsx'
import { Button } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { ErrorNote } from '../../components/error-note.tsx'
import { InertText } from '../../components/inert-text.tsx'
import { Notice } from '../../components/notice.tsx'
import { JsonDialog } from '../../components/json-dialog.tsx'
import { Skeleton } from '../../components/skeleton.tsx'
import { Theirs } from '../../components/theirs.tsx'
import { useNavigation } from '../../state/navigation.ts'
import { useAgent } from '../../state/queries.ts'
import { strings } from '../../strings/index.ts'
import { SendDialog } from '../send/send-dialog.tsx'
import classes from './agent-detail.module.css'
import { KeyMark, VerificationMark } from './agent-marks.tsx'
import { KeyHistory } from './key-history.tsx'
import { RelationControl } from './relation-control.tsx'

export function AgentDetail({ aid, onClose }: { readonly aid: string; readonly onClose: () => void }): ReactElement {
  const { data: agent, error, isPending } = useAgent(aid)
  return (
    <aside className={classes['detail']} aria-label={strings.agents.detail.label}>
      <Button
        className={classes['close']}
        variant="ghost"
        aria-label={strings.common.close}
        icon={<X aria-hidden />}
        onClick={onClose}
      />
      {isPending && <Skeleton rows={6} />}
      {error !== null && <ErrorNote error={error} />}
      {agent !== undefined && <Content agent={agent} />}
    </aside>
  )
}

function Content({ agent }: { readonly agent: AgentDetailView }): ReactElement {
  const text = strings.agents.detail
  const { go } = useNavigation()
  const [sending, setSending] = useState(false)
  const [shownCard, setShownCard] = useState<'network' | 'proxy'>()
  return (
    <>
      <header className={classes['header']}>
        <h2>
          <InertText text={agent.name} limit={120} />
        </h2>
        <div className={classes['marks']}>
          <VerificationMark agent={agent} />
          <KeyMark agent={agent} />
          <span className={classes['aid']}>
            <AidText aid={agent.aid} copy />
          </span>
        </div>
        <div className={classes['actions']}>
          <Button
            variant="primary"
            icon={<Send aria-hidden />}
            disabled={agent.forked}
            onClick={() => setSending(true)}
          >
            {text.send}
          </Button>
          {agent.url !== null && <CopyButton text={agent.url} what="URL" label={text.copyUrl} />}
          {agent.curl !== null && <CopyButton text={agent.curl} what="curl command" label={text.copyCurl} />}
        </div>
      </header>
      <div className={classes['body']}>
        {(agent.forked || agent.verification === 'UNVERIFIED') && (
          <Notice>{agent.forked ? text.forked : text.unverified}</Notice>
        )}
        {agent.description !== null && <Theirs source={text.theirCard} text={agent.description} />}
        {agent.verification === 'VERIFIED' && <Skills agent={agent} />}
        <section>
          <h3>{text.withYou}</h3>
          <p>{text.tasks(agent.tasks.total, agent.tasks.failed)}</p>
        </section>
        <KeyHistory entries={agent.history} />
        <RelationControl agent={agent} />
      </div>
      <footer className={classes['footer']}>
        {agent.networkCard !== null && (
          <Button variant="link" onClick={() => setShownCard('network')}>
            {text.networkCard}
          </Button>
        )}
        <Button variant="link" onClick={() => setShownCard('proxy')}>
          {text.proxyCard}
        </Button>
        {agent.tasks.total > 0 && (
          <Button variant="link" onClick={() => go({ view: 'tasks', id: null, requester: null })}>
            {text.allTasks(agent.tasks.total)}
          </Button>
        )}
      </footer>
      {sending && <SendDialog agent={agent} onClose={() => setSending(false)} />}
      {shownCard !== undefined && (
        <JsonDialog
          title={shownCard === 'network' ? text.networkCard : text.proxyCard}
          value={shownCard === 'network' ? agent.networkCard : agent.proxyCard}
          onClose={() => setShownCard(undefined)}
        />
      )}
    </>
  )
}

function Skills({ agent }: { readonly agent: AgentDetailView }): ReactElement {
  const text = strings.agents.detail
  return (
    <section>
      <h3>{text.skills}</h3>
      {agent.skills.length === 0 && <p>{text.noSkills}</p>}
      <ul className={classes['skills']}>
        {agent.skills.map((skill) => (
          <li key={skill.id}>
            <span>
              <InertText text={skill.name} limit={120} />
            </span>
            <small>
              <InertText text={skill.description} limit={400} />
            </small>
          </li>
        ))}
      </ul>
    </section>
  )
}
