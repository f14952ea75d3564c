import { mkdir, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { join } from 'node:path'
import type { Goal, Result } from './row.ts'

export function table(results: readonly Result[]): string {
  const lines = results.map(({ what, against, values, ratio, goal, outcome }) => [
    what,
    values === undefined ? '–' : `${number(values.measured)} ${values.unit}`,
    against,
    values === undefined ? '–' : `${number(values.against)} ${values.unit}`,
    ratio === undefined ? '–' : number(ratio),
    goalText(goal),
    outcome,
  ])
  const rows = [['row', 'measured', 'against', '', 'ratio', 'goal', ''], ...lines]
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Writes `bench/results/<date>.json` and returns its path. */
export async function keep(root: string, results: readonly Result[]): Promise<string> {
  const folder = join(root, 'bench', 'results')
  await mkdir(folder, { recursive: true })
  const at = new Date().toISOString()
  const path = join(folder, `${at.replaceAll(':', '-')}.json`)
  const machine = { node: process.versions.node, platform: process.platform, cores: cpus().length }
  await writeFile(path, `${JSON.stringify({ at, machine, results }, null, 2)}\n`)
  return path
}

function goalText(goal: Goal): string {
  return 'least' in goal ? `≥ ${goal.least}` : `≤ ${goal.most}`
}

function number(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3)
}
