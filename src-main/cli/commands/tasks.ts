import { resolve } from 'node:path'
import { isTerminal, taskStates } from '@shared/a2a/index.ts'
import { anetCommand, anetGroup, type CommonOptions, run } from '../command.ts'
import { usageError } from '../exit.ts'
import { follow } from '../follow.ts'
import { numberOption } from '../options.ts'
import { StreamPrinter } from '../stream-printer.ts'
import { endNote, stateLine, taskText } from '../task-text.ts'
import { byteCount, clipped, stateWord, table, when } from '../text.ts'

interface ListOptions extends CommonOptions {
  readonly state?: string
  readonly agent?: string
  readonly in?: true
  readonly out?: true
  readonly search?: string
  readonly limit: number
  readonly cursor?: string
}
interface IdOptions extends CommonOptions {
  readonly requester?: string
}

const stateWords = ['open', ...taskStates.map(stateWord)]

const list = anetCommand('list', 'list tasks, the newest first', 'anet tasks list --state open --out')
  .option('--state <state>', stateWords.join(', '))
  .option('--agent <aid>', 'only with this agent')
  .option('--out', 'only what this node asked others')
  .option('--in', 'only what others asked this node')
  .option('--search <text>', 'only with this text in the title')
  .option('--limit <n>', 'how many', numberOption(1, 200), 50)
  .option('--cursor <cursor>', 'next page, as the list before printed it')
  .action(
    run(async ({ node, show: print }, _: [], options: ListOptions) => {
      const state = stateOption(options.state)
      const direction = options.in === options.out ? undefined : options.in ? ('in' as const) : ('out' as const)
      const page = await node.tasks.list({
        limit: options.limit,
        ...(state === undefined ? {} : { state }),
        ...(direction === undefined ? {} : { direction }),
        ...(options.agent === undefined ? {} : { agent: options.agent }),
        ...(options.search === undefined ? {} : { text: options.search }),
        ...(options.cursor === undefined ? {} : { cursor: options.cursor }),
      })
      const rows = page.tasks.map((task) => [
        task.id,
        task.direction,
        stateWord(task.state),
        clipped(task.peerName, 24),
        when(task.updatedAt),
        clipped(task.title, 48),
      ])
      const more = page.nextCursor === '' ? '' : `\n\n${page.total} in all. More: --cursor ${page.nextCursor}`
      print(
        page,
        rows.length === 0 ? 'No tasks.' : table(['TASK', 'DIR', 'STATE', 'AGENT', 'CHANGED', 'TITLE'], rows) + more,
      )
    }),
  )

const show = idCommand('show', 'show one task with its timeline', 'anet tasks show 6f0c…').action(
  run(async ({ node, show: print }, [id]: [string], { requester }: IdOptions) => {
    const task = await node.tasks.get({ id, ...(requester === undefined ? {} : { requester }) })
    print(task, taskText(task))
  }),
)

const watch = idCommand('watch', 'print what happens on a task until it ends', 'anet tasks watch 6f0c…').action(
  run(async ({ node, door, json }, [id]: [string], { requester }: IdOptions) => {
    const task = await node.tasks.get({ id, ...(requester === undefined ? {} : { requester }) })
    const printer = new StreamPrinter(process.stdout, { json, own: true, after: -1 })
    const end = await follow(door, task, {
      detail: (detail) => printer.detail(detail),
      preview: (text) => printer.preview(text),
      isEnd: ({ state }) => isTerminal(state),
    })
    printer.end(endNote(end).join('\n'))
    return end.state === 'TASK_STATE_COMPLETED' ? 0 : 1
  }),
)

const cancel = idCommand('cancel', 'ask the other side to cancel a task', 'anet tasks cancel 6f0c…').action(
  run(async ({ node, show: print }, [id]: [string], { requester }: IdOptions) => {
    const task = await node.tasks.cancel({ id, ...(requester === undefined ? {} : { requester }) })
    print(task, `Task ${task.id}: ${stateLine(task)}`)
  }),
)

const save = idCommand(
  'save',
  'save one part of a message or artifact to a new file',
  'anet tasks save 6f0c… 5 summary.txt --part 0',
)
  .argument('<seq>', 'number of the entry, as "anet tasks show" prints it', numberOption(0, Number.MAX_SAFE_INTEGER))
  .argument('<path>', 'the new file')
  .option('--part <n>', 'which part of the entry', numberOption(0, 1023), 0)
  .option('--overwrite', 'replace an existing file', false)
  .action(
    run(
      async (
        { node, show: print },
        [id, seq, path]: [string, number, string],
        { requester, part, overwrite }: IdOptions & { part: number; overwrite: boolean },
      ) => {
        const saved = await node.tasks.saveFile({
          id,
          seq,
          part,
          overwrite,
          path: resolve(path),
          ...(requester === undefined ? {} : { requester }),
        })
        print(saved, `${saved.path}: ${byteCount(saved.bytes)}`)
      },
    ),
  )

export const tasksCommand = anetGroup('tasks', 'tasks in both directions', [list, show, watch, cancel, save])

function idCommand(name: string, description: string, example: string): ReturnType<typeof anetCommand> {
  return anetCommand(name, description, example)
    .argument('<id>', 'id of the task')
    .option('--requester <aid>', 'who asked, when two agents chose the same id')
}

function stateOption(word: string | undefined): (typeof taskStates)[number] | 'open' | undefined {
  if (word === undefined || word === 'open') return word
  const state = taskStates.find((candidate) => stateWord(candidate) === word.toLowerCase())
  if (state === undefined) throw usageError(`"${word}" is no state of a task.`, `Use one of ${stateWords.join(', ')}.`)
  return state
}
