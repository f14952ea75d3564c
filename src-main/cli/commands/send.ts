import { isInterrupted, isTerminal } from '@shared/a2a/index.ts'
import { anetCommand, type CommonOptions, type Context, run } from '../command.ts'
import { usageError } from '../exit.ts'
import { follow, settle } from '../follow.ts'
import { filesOption, numberOption } from '../options.ts'
import { StreamPrinter } from '../stream-printer.ts'
import { endNote, resultText, stateLine } from '../task-text.ts'
import { readStdin } from '../terminal.ts'

interface SendOptions extends CommonOptions {
  readonly file?: readonly string[]
  readonly stream: boolean
  readonly task?: string
  readonly context?: string
  readonly skill?: string
  readonly timeout?: number
  readonly wait: boolean
}

export const sendCommand = anetCommand(
  'send',
  'send a task to an agent and print what comes back',
  'anet send bafyrei… "Summarise the attached text." --file report.txt --stream\nanet send bafyrei… "Yes, the long version." --task 6f0c…',
)
  .argument('<aid>', 'AID of the agent')
  .argument('<text>', 'text of the message; "-" reads it from standard input')
  .option('--file <path>', 'send a file along; may be repeated', filesOption)
  .option('--stream', 'print the answer while it is written', false)
  .option('--task <id>', 'answer or add to this task')
  .option('--context <id>', 'context of the conversation')
  .option('--skill <id>', 'skill of the agent that is meant')
  .option('--timeout <seconds>', 'stop waiting after this time; the task goes on', numberOption(1, 86_400))
  .option('--no-wait', 'return as soon as the task exists')
  .action(
    run(async (context, [agent, given]: [string, string], options: SendOptions) => {
      const { node, show, json } = context
      const text = given === '-' ? await readStdin() : given
      if (text === '') throw usageError('There is no text to send.')
      const { task } = await node.tasks.send({
        agent,
        text,
        client: 'cli',
        files: [...(options.file ?? [])],
        ...(options.task === undefined ? {} : { taskId: options.task }),
        ...(options.context === undefined ? {} : { contextId: options.context }),
        ...(options.skill === undefined ? {} : { skill: options.skill }),
      })
      if (!options.wait) {
        show(task, task.id)
        return 0
      }
      if (options.stream) return stream(context, task)
      const timeoutMs = options.timeout === undefined ? undefined : options.timeout * 1000
      const end = await settle(node, task, timeoutMs)
      const detail = await node.tasks.get({ id: end.id, requester: end.requester })
      if (isTerminal(end.state) || isInterrupted(end.state) || json) show(detail, resultText(detail))
      else show(detail, `Task ${end.id} is still ${stateLine(end)}. Watch it with "anet tasks watch ${end.id}".`)
      return exitCodeFor(end.state)
    }),
  )

/** Completed, or waiting for the sender: both are what a sender can go on with. */
function exitCodeFor(state: Parameters<typeof isTerminal>[0]): number {
  return isTerminal(state) && state !== 'TASK_STATE_COMPLETED' ? 1 : 0
}

async function stream(context: Context, task: { id: string; requester: string; stateSeq: number }): Promise<number> {
  const printer = new StreamPrinter(process.stdout, { json: context.json, own: false, after: task.stateSeq })
  const end = await follow(context.door, task, {
    detail: (detail) => printer.detail(detail),
    preview: (text) => printer.preview(text),
    isEnd: ({ state, stateSeq }) => isTerminal(state) || (isInterrupted(state) && stateSeq > task.stateSeq),
  })
  printer.end(endNote(end).join('\n'))
  return exitCodeFor(end.state)
}
