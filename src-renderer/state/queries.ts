import {
  type InfiniteData,
  keepPreviousData,
  QueryClient,
  useInfiniteQuery,
  type UseInfiniteQueryResult,
  useQuery,
  type UseQueryResult,
} from '@tanstack/react-query'
import type { z } from 'zod'
import type { NodeContract } from '@shared/contract/index.ts'
import { node } from './bridge.ts'
import { useMirror } from './mirror.ts'

/** Answers come from this computer: they are never retried, never stale by age, and asked again when the node says so. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { retry: false, staleTime: Infinity, refetchOnWindowFocus: false, networkMode: 'always' },
  },
})

type Query<G extends keyof NodeContract, N extends keyof NodeContract[G]> = NodeContract[G][N] extends {
  input: infer I extends z.ZodType
  output: infer O extends z.ZodType
}
  ? { input: z.input<I>; output: z.output<O> }
  : never

function useNodeQuery<T>(key: readonly unknown[], ask: () => Promise<T>, enabled = true): UseQueryResult<T> {
  return useQuery({ queryKey: key, queryFn: ask, enabled, placeholderData: keepPreviousData })
}

type AgentsPage = Query<'agents', 'list'>['output']
const agentsPerPage = 200

/** All agents that match a full-text query, a page at a time. */
export function useAllAgents(q: string): UseInfiniteQueryResult<InfiniteData<AgentsPage>> {
  const revision = useMirror((mirror) => mirror.revisions.agents)
  return useInfiniteQuery({
    queryKey: ['agents', q, revision],
    queryFn: ({ pageParam }) =>
      node.agents.list({
        limit: agentsPerPage,
        ...(q === '' ? {} : { q }),
        ...(pageParam === '' ? {} : { cursor: pageParam }),
      }),
    initialPageParam: '',
    getNextPageParam: (page) => (page.nextCursor === '' ? undefined : page.nextCursor),
    placeholderData: keepPreviousData,
  })
}

export function useAgent(aid: string | null): UseQueryResult<Query<'agents', 'get'>['output']> {
  const revision = useMirror((mirror) => mirror.revisions.agents)
  return useNodeQuery(['agent', aid, revision], () => node.agents.get({ aid: aid ?? '' }), aid !== null)
}

type TasksQuery = Omit<Query<'tasks', 'list'>['input'], 'cursor' | 'limit'>
const tasksPerPage = 100

/** All tasks that match, a page at a time. */
export function useAllTasks(query: TasksQuery): UseInfiniteQueryResult<InfiniteData<Query<'tasks', 'list'>['output']>> {
  const revision = useMirror((mirror) => mirror.revisions.tasks)
  return useInfiniteQuery({
    queryKey: ['tasks', query, revision],
    queryFn: ({ pageParam }) =>
      node.tasks.list({ ...query, limit: tasksPerPage, ...(pageParam === '' ? {} : { cursor: pageParam }) }),
    initialPageParam: '',
    getNextPageParam: (page) => (page.nextCursor === '' ? undefined : page.nextCursor),
    placeholderData: keepPreviousData,
  })
}

export function useTasks(input: Query<'tasks', 'list'>['input']): UseQueryResult<Query<'tasks', 'list'>['output']> {
  const revision = useMirror((mirror) => mirror.revisions.tasks)
  return useNodeQuery(['tasks', input, revision], () => node.tasks.list(input))
}

export function useTask(
  task: { id: string; requester: string } | null,
): UseQueryResult<Query<'tasks', 'get'>['output']> {
  const stateSeq = useMirror((mirror) =>
    task === null ? 0 : (mirror.changedTasks.get(`${task.requester}/${task.id}`)?.stateSeq ?? 0),
  )
  return useNodeQuery(
    ['task', task?.requester, task?.id, stateSeq],
    () => node.tasks.get(task ?? { id: '' }),
    task !== null,
  )
}

export function useInbox(state: 'open' | 'all'): UseQueryResult<Query<'inbox', 'list'>['output']> {
  const revision = useMirror((mirror) => mirror.revisions.inbox)
  return useNodeQuery(['inbox', state, revision], () => node.inbox.list({ state, limit: 200 }))
}

export function useDoctor(): UseQueryResult<Query<'node', 'doctor'>['output']> {
  return useNodeQuery(['doctor'], () => node.node.doctor({}))
}
