import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { anetKeys, type Message, type Part } from '@shared/a2a/index.ts'
import type { NodeHandlers } from '@shared/contract/index.ts'
import { AnetError } from '@shared/errors.ts'
import { artifactWithoutBytes, type StoredPart, type TaskEntry, type TaskSummary } from '../tasks/index.ts'
import { readFileParts, writeNewFile } from './files.ts'
import { namesOf } from './names.ts'
import type { ApiParts } from './parts.ts'
import { taskEntryView, taskSummaryView } from './task-views.ts'

type TaskOperations = NodeHandlers['tasks']

export function taskOperations({ tasks, peers, store }: Pick<ApiParts, 'tasks' | 'peers' | 'store'>): TaskOperations {
  const view = (task: TaskSummary): ReturnType<typeof taskSummaryView> =>
    taskSummaryView(task, namesOf(peers, [task.peer]))

  /** By requester and id, or by the id alone as a person gives it. */
  const require = ({ id, requester }: { id: string; requester?: string | undefined }): TaskSummary => {
    const task = requester === undefined ? tasks.find(id) : tasks.summary({ requester, id })
    if (task === undefined) {
      throw new AnetError('task_not_found', `There is no task ${id} on this node.`, {
        remedy: 'List the tasks with "anet tasks list".',
      })
    }
    return task
  }

  return {
    list({ agent, ...query }) {
      const page = tasks.list({
        ...defined(query),
        ...(agent === undefined ? {} : { peer: agent }),
        limit: query.limit,
      })
      const nameOf = namesOf(
        peers,
        page.tasks.map((task) => task.peer),
      )
      return {
        tasks: page.tasks.map((task) => taskSummaryView(task, nameOf)),
        nextCursor: page.nextCursor,
        total: page.total,
      }
    },

    get(input) {
      const { key } = require(input)
      const task = tasks.get(key)
      if (task === undefined) throw new AnetError('task_not_found', `There is no task ${key.id} on this node.`)
      return {
        ...view(task),
        entries: tasks.entries(key).map(taskEntryView),
        artifacts: task.artifacts.map(artifactWithoutBytes),
        evidence: store.evidence.ofTask(key).map(({ seq, at, kind, cid, data }) => ({ seq, at, kind, cid, data })),
      }
    },

    async send(input) {
      const files = await readFileParts(input.files)
      const continued = input.taskId === undefined ? undefined : require({ id: input.taskId })
      const message: Message = {
        messageId: input.messageId ?? randomUUID(),
        role: 'ROLE_USER',
        parts: [{ text: input.text }, ...files],
        ...(continued === undefined ? {} : { taskId: continued.key.id, contextId: continued.contextId }),
        ...(input.contextId === undefined ? {} : { contextId: input.contextId }),
        ...(input.skill === undefined ? {} : { metadata: { [anetKeys.skill]: input.skill } }),
      }
      const { task, repeated } = await tasks.send({ agent: input.agent, message, client: input.client })
      return { task: view(task), repeated }
    },

    async cancel(input) {
      return view(await tasks.cancel(require(input).key))
    },

    async wait(input) {
      const { key } = require(input)
      const ending = new AbortController()
      // a waiter that nobody needs any more keeps neither a timer nor a subscription
      const timeout = delay(input.timeoutMs, undefined, { signal: ending.signal, ref: false }).catch(() => {})
      const settled = tasks.settled(key, ending.signal).catch((error: unknown) => {
        if (!ending.signal.aborted) throw error
      })
      try {
        await Promise.race([settled, timeout])
      } finally {
        ending.abort()
      }
      return view(require(input))
    },

    async saveFile({ path, overwrite, seq, part: index, ...input }) {
      const { key } = require(input)
      const entry = tasks.entries(key, seq - 1).find((candidate) => candidate.seq === seq)
      const stored = entry === undefined ? undefined : partsOf(entry)[index]
      if (stored === undefined) {
        throw new AnetError('part_not_found', `Entry ${seq} of task ${key.id} has no part ${index}.`)
      }
      const bytes = bytesOf(await tasks.materialise(stored))
      await writeNewFile(path, bytes, overwrite)
      return { path, bytes: bytes.byteLength }
    },
  }
}

function partsOf(entry: TaskEntry): readonly StoredPart[] {
  switch (entry.kind) {
    case 'message':
      return entry.message.parts
    case 'artifact':
      return entry.artifact.parts
    case 'status':
      return entry.status.message?.parts ?? []
    case 'cancel':
      return []
  }
}

function bytesOf(part: Part): Uint8Array {
  if (part.raw !== undefined) return Buffer.from(part.raw, 'base64')
  return Buffer.from(part.text ?? part.url ?? JSON.stringify(part.data, undefined, 2))
}

/** Drops keys that are undefined: the doors of the floors want such keys absent. */
function defined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>
  }
}
