import { randomBytes } from 'node:crypto'
import { onTestFinished } from 'vitest'
import type { Message, Part, TaskState } from '@shared/a2a/index.ts'
import { type Config, configSchema } from '@shared/config/index.ts'
import type { Identity } from '../../src-main/node/identity/index.ts'
import type { Network, TaskKey } from '../../src-main/node/network/index.ts'
import type { Store } from '../../src-main/node/store/index.ts'
import {
  createInboundPolicy,
  createTasks,
  type SendInput,
  type TaskEntry,
  tasksMigrations,
  type Tasks,
  type TaskSummary,
} from '../../src-main/node/tasks/index.ts'
import { Loopback, LoopbackNetwork } from './loopback-network.ts'
import { newAid } from './new-aid.ts'
import { silentLog, type SteeredClock, steeredClock, temporaryStore } from './temporary-store.ts'

/** The task floor of one node over its real store and a loopback network. */
export interface TaskNode {
  readonly aid: string
  tasks: Tasks
  store: Store
  network: LoopbackNetwork
  readonly clock: SteeredClock
  config: Config
  /** Called at each durable step. */
  fault: (name: string) => void
  /** Stops and starts again on the same database. */
  restart(before?: () => void): Promise<void>
  /** Evidence kinds about a task, in order. */
  evidence(key: TaskKey): string[]
}

export async function taskNode(between: Loopback, options: { start?: boolean } = {}): Promise<TaskNode> {
  const aid = newAid()
  const clock = steeredClock()
  const node: Partial<TaskNode> & { config: Config; fault: (name: string) => void } = {
    aid,
    clock,
    config: configSchema.parse({ inbound: { policy: 'open' } }),
    fault: () => {},
  }
  let dataDir: string | undefined
  const stop = async (): Promise<void> => {
    between.hold()
    await between.idle()
    await node.tasks?.stop()
  }
  const open = async (): Promise<void> => {
    const store = await temporaryStore({
      migrations: tasksMigrations,
      clock,
      ...(dataDir === undefined ? {} : { dataDir }),
    })
    dataDir = store.dataDir
    const network = new LoopbackNetwork({
      own: aid,
      store,
      clock,
      between,
      ...(node.network === undefined ? {} : { numbers: node.network.numbers }),
    })
    const tasks = createTasks({
      store,
      identity: { aid } as Identity,
      network: network as unknown as Network,
      policy: createInboundPolicy(() => node.config),
      clock,
      log: silentLog,
      fault: (name) => node.fault(name),
    })
    Object.assign(node, { store, network, tasks })
    // before the store is closed
    onTestFinished(stop)
  }
  await open()
  if (options.start !== false) await node.tasks?.start()
  node.restart = async (before) => {
    await stop()
    await node.store?.close()
    before?.()
    await open()
    await node.tasks?.start()
    between.release()
  }
  node.evidence = (key) => (node.store?.evidence.ofTask(key) ?? []).map(({ kind }) => kind)
  return node as TaskNode
}

/** A requester and a provider, with what lies between them. The provider takes tasks from everybody. */
export async function taskPair(): Promise<{ between: Loopback; requester: TaskNode; provider: TaskNode }> {
  const between = new Loopback()
  const [requester, provider] = await Promise.all([taskNode(between), taskNode(between)])
  return { between, requester, provider }
}

/** A text message of a client. */
export function asking(text = 'hello', more: Partial<Message> = {}): Message {
  return { messageId: randomBytes(8).toString('hex'), role: 'ROLE_USER', parts: [{ text }], ...more }
}

export function sending(to: TaskNode, message: Message = asking()): SendInput {
  return { agent: to.aid, message, client: 'test' }
}

/** Sends a message and waits until it was handled and answered. */
export async function delivered(
  from: TaskNode,
  to: TaskNode,
  between: Loopback,
  message = asking(),
): Promise<TaskSummary> {
  const { task } = await from.tasks.send(sending(to, message))
  await between.idle()
  return task
}

export function saying(text: string): Message {
  return { messageId: randomBytes(8).toString('hex'), role: 'ROLE_AGENT', parts: [{ text }] }
}

export function states(entries: readonly TaskEntry[]): TaskState[] {
  return entries.flatMap((entry) => (entry.kind === 'status' ? [entry.status.state] : []))
}

export function textOf(holder: { readonly parts: readonly (Part | { large: unknown })[] } | undefined): string {
  return (holder?.parts ?? []).map((part) => ('text' in part ? part.text : '')).join('')
}
