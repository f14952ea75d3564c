import type { ReactElement } from 'react'
import type { TaskDetailView } from '@shared/contract/index.ts'
import { clockTime, shortAid } from '@shared/format/index.ts'
import { strings } from '../../strings/index.ts'
import classes from './evidence-table.module.css'

/** Records of the evidence chain that name this task. */
export function EvidenceTable({ evidence }: { readonly evidence: TaskDetailView['evidence'] }): ReactElement {
  const text = strings.tasks.detail
  if (evidence.length === 0) return <p>{text.noEvidence}</p>
  return (
    <table className={classes['table']}>
      <thead>
        <tr>
          <th scope="col">{text.columns.number}</th>
          <th scope="col">{text.columns.time}</th>
          <th scope="col">{text.columns.what}</th>
          <th scope="col">{text.columns.cid}</th>
        </tr>
      </thead>
      <tbody>
        {evidence.map((record) => (
          <tr key={record.seq}>
            <td>{record.seq}</td>
            <td>{clockTime(record.at, true)}</td>
            <td>{record.kind}</td>
            <td>
              <code className="selectable" title={record.cid}>
                {shortAid(record.cid)}
              </code>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
