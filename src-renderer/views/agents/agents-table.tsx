import { useVirtualizer } from '@tanstack/react-virtual'
import { type KeyboardEvent, type ReactElement, useEffect, useRef } from 'react'
import type { AgentView } from '@shared/contract/index.ts'
import { shortAid } from '@shared/format/index.ts'
import { InertText } from '../../components/inert-text.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { strings } from '../../strings/index.ts'
import { KeyMark, VerificationMark } from './agent-marks.tsx'
import classes from './agents-table.module.css'

const rowHeight = 36

export interface AgentsTableProps {
  readonly agents: readonly AgentView[]
  readonly selected: string | null
  /** Room for the AID: no detail is open. */
  readonly wide: boolean
  readonly onSelect: (agent: AgentView) => void
  /** Called when the last row comes into view, if there is more to ask for. */
  readonly onEnd: (() => void) | undefined
}

/** Rows are drawn as they come into view: thousands cost no more than a screenful. Arrow keys move the selection. */
export function AgentsTable({ agents, selected, wide, onSelect, onEnd }: AgentsTableProps): ReactElement {
  const text = strings.agents
  const scroll = useRef<HTMLDivElement>(null)
  const rows = useVirtualizer({
    count: agents.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  })
  const items = rows.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (last >= agents.length - 1) onEnd?.()
  }, [last, agents.length, onEnd])

  const move = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step === 0) return
    event.preventDefault()
    const at = agents.findIndex((agent) => agent.aid === selected)
    const next = agents[Math.min(Math.max(at + step, 0), agents.length - 1)]
    if (next === undefined) return
    onSelect(next)
    rows.scrollToIndex(agents.indexOf(next))
  }
  return (
    <div className={classes['table']} role="grid" aria-rowcount={agents.length} data-wide={wide}>
      <div className={classes['head']} role="row">
        <span role="columnheader">{text.columns.agent}</span>
        {wide && <span role="columnheader">{text.columns.aid}</span>}
        <span role="columnheader">{text.columns.verification}</span>
        <span role="columnheader">{text.columns.key}</span>
        <span role="columnheader">{text.columns.charge}</span>
        <span role="columnheader">{text.columns.lastSeen}</span>
      </div>
      <div
        ref={scroll}
        className={classes['body']}
        role="rowgroup"
        tabIndex={0}
        aria-label={text.title}
        onKeyDown={move}
      >
        <div role="presentation" style={{ height: rows.getTotalSize() }}>
          {items.map((item) => {
            const agent = agents[item.index]
            return agent === undefined ? null : (
              <AgentRow
                key={agent.aid}
                agent={agent}
                wide={wide}
                index={item.index}
                top={item.start}
                selected={agent.aid === selected}
                onSelect={onSelect}
              />
            )
          })}
        </div>
      </div>
    </div>
  )
}

interface AgentRowProps {
  readonly agent: AgentView
  readonly wide: boolean
  readonly index: number
  readonly top: number
  readonly selected: boolean
  readonly onSelect: (agent: AgentView) => void
}

function AgentRow({ agent, wide, index, top, selected, onSelect }: AgentRowProps): ReactElement {
  const text = strings.agents
  return (
    <div
      role="row"
      aria-rowindex={index + 1}
      aria-selected={selected}
      className={classes['row']}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => onSelect(agent)}
    >
      <span role="gridcell" className={agent.verification === 'VERIFIED' ? classes['name'] : classes['placeholder']}>
        <InertText text={agent.name} limit={80} clip />
      </span>
      {wide && (
        <span role="gridcell">
          <code title={agent.aid}>{shortAid(agent.aid)}</code>
        </span>
      )}
      <span role="gridcell">
        <VerificationMark agent={agent} />
      </span>
      <span role="gridcell">
        <KeyMark agent={agent} />
      </span>
      <span role="gridcell">{agent.charge === null ? text.notKnown : text.charge[agent.charge]}</span>
      <span role="gridcell">{agent.lastSeen === null ? text.never : <RelativeTime at={agent.lastSeen} />}</span>
    </div>
  )
}
