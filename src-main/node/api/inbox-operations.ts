import type { Message } from '@shared/a2a/index.ts'
import type { InboxItemView, NodeHandlers } from '@shared/contract/index.ts'
import { AnetError } from '@shared/errors.ts'
import { type InboxItem, messageWithoutBytes } from '../tasks/index.ts'
import { readFileParts } from './files.ts'
import { namesOf } from './names.ts'
import type { ApiParts } from './parts.ts'
import { taskSummaryView } from './task-views.ts'

export function inboxOperations({ tasks, peers }: Pick<ApiParts, 'tasks' | 'peers'>): NodeHandlers['inbox'] {
  const views = (items: readonly InboxItem[]): InboxItemView[] => {
    const nameOf = namesOf(
      peers,
      items.map((item) => item.peer),
    )
    return items.flatMap((item) => {
      const task = tasks.summary(item.key)
      const message = messageOf(item)
      if (task === undefined || message === undefined) return []
      return [
        {
          id: item.id,
          task: taskSummaryView(task, nameOf),
          state: item.state,
          seq: item.seq,
          receivedAt: item.receivedAt,
          trusted: item.trusted,
          message,
        },
      ]
    })
  }

  const messageOf = (item: InboxItem): Message | undefined => {
    const entry = tasks.entries(item.key, item.seq - 1)[0]
    return entry?.kind === 'message' && entry.seq === item.seq ? messageWithoutBytes(entry.message) : undefined
  }

  return {
    list({ state, cursor, limit }) {
      const page = tasks.inbox.list({ state, limit, ...(cursor === undefined ? {} : { cursor }) })
      return { items: views(page.items), nextCursor: page.nextCursor, open: page.open }
    },

    get({ id }) {
      const item = tasks.inbox.get(id)
      const view = item === undefined ? undefined : views([item])[0]
      if (view === undefined) {
        throw new AnetError('inbox_item_not_found', `The inbox has no item ${id}.`, {
          remedy: 'List the inbox with "anet inbox list".',
        })
      }
      return view
    },

    async answer({ id, kind, text, files }) {
      const parts = [...(text === '' ? [] : [{ text }]), ...(await readFileParts(files))]
      if (parts.length === 0 && kind !== 'refuse' && kind !== 'complete') {
        throw new AnetError('nothing_to_say', 'This answer needs a text or a file.')
      }
      const task = await tasks.inbox.answer(id, { kind, parts })
      return taskSummaryView(task, namesOf(peers, [task.peer]))
    },
  }
}
