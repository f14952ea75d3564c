import { anetCommand, anetGroup, type CommonOptions, run } from '../command.ts'
import { filesOption, numberOption } from '../options.ts'
import { partsText, stateLine, taskHeadText } from '../task-text.ts'
import { readStdin } from '../terminal.ts'
import { clipped, table, when } from '../text.ts'

const itemId = numberOption(0, Number.MAX_SAFE_INTEGER)

const list = anetCommand('list', 'list what waits for an answer of the operator', 'anet inbox list')
  .option('--all', 'answered ones as well', false)
  .option('--limit <n>', 'how many', numberOption(1, 200), 50)
  .option('--cursor <cursor>', 'next page, as the list before printed it')
  .action(
    run(
      async (
        { node, show: print },
        _: [],
        options: CommonOptions & { all: boolean; limit: number; cursor?: string },
      ) => {
        const page = await node.inbox.list({
          state: options.all ? 'all' : 'open',
          limit: options.limit,
          ...(options.cursor === undefined ? {} : { cursor: options.cursor }),
        })
        const rows = page.items.map((item) => [
          String(item.id),
          item.state.replaceAll('_', '-'),
          clipped(item.task.peerName, 24) + (item.trusted ? ' (trusted)' : ''),
          when(item.receivedAt),
          clipped(partsText(item.message.parts), 56),
        ])
        const more = page.nextCursor === '' ? '' : `\n\n${page.open} open. More: --cursor ${page.nextCursor}`
        print(
          page,
          rows.length === 0 ? 'The inbox is empty.' : table(['ITEM', 'STATE', 'FROM', 'RECEIVED', 'TEXT'], rows) + more,
        )
      },
    ),
  )

const show = anetCommand('show', 'show one item of the inbox', 'anet inbox show 3')
  .argument('<item>', 'number of the item', itemId)
  .action(
    run(async ({ node, show: print }, [id]: [number]) => {
      const item = await node.inbox.get({ id })
      print(item, `${taskHeadText(item.task)}\n\n${partsText(item.message.parts)}`)
    }),
  )

const answers = [
  ['reply', 'answer; the task goes on', 'anet inbox reply 3 "I am on it."'],
  ['complete', 'answer and complete the task', 'anet inbox complete 3 "Here it is." --file result.pdf'],
  ['ask', 'ask the requester a question', 'anet inbox ask 3 "Which year do you mean?"'],
  ['refuse', 'refuse the task', 'anet inbox refuse 3 "Not something I do."'],
] as const

const answerCommands = answers.map(([kind, description, example]) =>
  anetCommand(kind, description, example)
    .argument('<item>', 'number of the item', itemId)
    .argument(kind === 'ask' || kind === 'reply' ? '<text>' : '[text]', 'text of the answer; "-" reads standard input')
    .option('--file <path>', 'send a file along; may be repeated', filesOption)
    .action(
      run(async ({ node, show: print }, [id, given]: [number, string | undefined], { file }: AnswerOptions) => {
        const text = given === '-' ? await readStdin() : (given ?? '')
        const task = await node.inbox.answer({ id, kind, text, files: [...(file ?? [])] })
        print(task, `Task ${task.id}: ${stateLine(task)}`)
      }),
    ),
)

interface AnswerOptions extends CommonOptions {
  readonly file?: readonly string[]
}

export const inboxCommand = anetGroup('inbox', 'tasks that wait for an answer of the operator', [
  list,
  show,
  ...answerCommands,
])
