import { randomUUID } from 'node:crypto'
import { Message, Part, type Task, type TaskState as SdkState, taskStateFromJSON } from '@a2a-js/sdk'
import { AgentEvent, type AgentExecutor, type ExecutionEventBus, type RequestContext } from '@a2a-js/sdk/server'
import type { Part as WirePart, TaskState } from '@shared/a2a/index.ts'

/** One message to an agent, and the ways to answer it. */
export interface AgentTurn {
  /** The text parts of the message, joined by line breaks. */
  readonly text: string
  /** Text of the first message of the task, if this is not the first. */
  readonly firstText: string | undefined
  readonly signal: AbortSignal
  /** Sends a piece of an artifact; `lastChunk` ends the artifact. */
  artifact(
    piece: { artifactId: string; name: string; parts: WirePart[] },
    options?: { append?: boolean; lastChunk?: boolean },
  ): void
  /** Ends the turn with a question. */
  ask(question: string): void
  complete(): void
}

/**
 * An agent made of one function, as the executor of the SDK's server. The task is announced as working first, a cancel
 * aborts the function, and a failure of the function ends the task as failed.
 */
export function createExecutor(answer: (turn: AgentTurn) => Promise<void>): AgentExecutor {
  const running = new Map<string, AbortController>()

  return {
    async execute(context, bus) {
      const controller = new AbortController()
      running.set(context.taskId, controller)
      try {
        bus.publish(AgentEvent.task(openedTask(context)))
        await answer(turnOf(context, bus, controller.signal))
      } catch {
        if (!controller.signal.aborted) publishStatus(context, bus, 'TASK_STATE_FAILED')
      } finally {
        running.delete(context.taskId)
        bus.finished()
      }
    },
    async cancelTask(taskId, bus) {
      running.get(taskId)?.abort()
      bus.publish(
        AgentEvent.statusUpdate({
          taskId,
          contextId: '',
          status: status('TASK_STATE_CANCELED'),
          metadata: undefined,
        }),
      )
      bus.finished()
    },
  }
}

function turnOf(context: RequestContext, bus: ExecutionEventBus, signal: AbortSignal): AgentTurn {
  const { taskId, contextId } = context
  const first = context.task?.history[0]
  return {
    text: textOf(context.userMessage),
    firstText: first === undefined ? undefined : textOf(first),
    signal,
    artifact({ artifactId, name, parts }, { append = false, lastChunk = false } = {}) {
      signal.throwIfAborted()
      const artifact = {
        artifactId,
        name,
        description: '',
        parts: parts.map((part) => Part.fromJSON(part)),
        metadata: undefined,
        extensions: [],
      }
      bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact, append, lastChunk, metadata: undefined }))
    },
    ask(question) {
      signal.throwIfAborted()
      publishStatus(context, bus, 'TASK_STATE_INPUT_REQUIRED', question)
    },
    complete() {
      signal.throwIfAborted()
      publishStatus(context, bus, 'TASK_STATE_COMPLETED')
    },
  }
}

function openedTask(context: RequestContext): Task {
  const task = context.task
  return {
    id: context.taskId,
    contextId: context.contextId,
    status: status('TASK_STATE_WORKING'),
    artifacts: task?.artifacts ?? [],
    history: task?.history ?? [context.userMessage],
    metadata: task?.metadata,
  }
}

function publishStatus(context: RequestContext, bus: ExecutionEventBus, state: TaskState, text?: string): void {
  const { taskId, contextId } = context
  bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: status(state, text), metadata: undefined }))
}

function status(state: TaskState, text?: string) {
  const message =
    text === undefined
      ? undefined
      : Message.fromJSON({ messageId: randomUUID(), role: 'ROLE_AGENT', parts: [{ text }] })
  return { state: taskStateFromJSON(state) satisfies SdkState, message, timestamp: new Date().toISOString() }
}

function textOf(message: Message): string {
  return message.parts.flatMap((part) => (part.content?.$case === 'text' ? [part.content.value] : [])).join('\n')
}
