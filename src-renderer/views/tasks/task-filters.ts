export const taskFilters = ['all', 'open', 'out', 'in'] as const
export type TaskFilter = (typeof taskFilters)[number]

export function taskQuery(filter: TaskFilter): { state?: 'open'; direction?: 'in' | 'out' } {
  if (filter === 'all') return {}
  return filter === 'open' ? { state: 'open' } : { direction: filter }
}
