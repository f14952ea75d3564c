import { type ReactElement, useState } from 'react'
import type { AgentView } from '@shared/contract/index.ts'
import { ErrorNote } from '../../components/error-note.tsx'
import { Segmented } from '../../components/segmented.tsx'
import { node } from '../../state/bridge.ts'
import { strings } from '../../strings/index.ts'
import classes from './relation-control.module.css'

const relations = ['none', 'allow', 'trust', 'deny'] as const

/** What becomes of tasks that this agent sends to the operator. Takes effect with the next message. */
export function RelationControl({ agent }: { readonly agent: AgentView }): ReactElement {
  const text = strings.agents.detail
  const [relation, setRelation] = useState(agent.relation)
  const [error, setError] = useState<unknown>()
  const choose = (next: AgentView['relation']): void => {
    setError(undefined)
    node.agents
      .setRelation({ aid: agent.aid, relation: next })
      .then((changed) => setRelation(changed.relation))
      .catch(setError)
  }
  return (
    <section>
      <h3 className={classes['title']}>{text.relation}</h3>
      <div className={classes['control']}>
        <Segmented label={text.relation} options={relations} names={text.relations} value={relation} onValue={choose} />
        <p>{text.relationHints[relation]}</p>
      </div>
      {error !== undefined && <ErrorNote error={error} />}
    </section>
  )
}
