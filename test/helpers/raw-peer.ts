import { onTestFinished } from 'vitest'
import {
  type Aid,
  decodeCbor,
  encodeCbor,
  type EncryptionKey,
  type Inner,
  keySetSchema,
  limits,
  type MessageType,
} from '@shared/wire/index.ts'
import { HubClient } from '../../src-main/node/network/hub-client.ts'
import { createSealing, type Opened } from '../../src-main/node/network/sealing.ts'
import type { InnerFields } from '../../src-main/node/network/inner.ts'
import type { TaskKey } from '../../src-main/node/network/index.ts'
import type { NetworkNode } from './network-node.ts'
import { crypto, type WireAgent, wireAgent } from './wire-agent.ts'

/** A member of the hub that writes whatever a test wants, well formed or not, and reads its own mailbox. */
export class RawPeer {
  readonly agent: WireAgent
  readonly client: HubClient
  readonly inbox: Opened[] = []
  readonly #sealing

  private constructor(agent: WireAgent, client: HubClient) {
    this.agent = agent
    this.client = client
    this.#sealing = createSealing({ identity: agent.identity, crypto, clock: { now: () => Date.now() } })
  }

  static async join(hub: { url: string; aid: Aid }): Promise<RawPeer> {
    const agent = wireAgent()
    const client = new HubClient({
      origin: hub.url,
      aid: hub.aid,
      signingKey: () => agent.signingKey,
      crypto,
      clock: { now: () => Date.now() },
      answerWithin: 5000,
    })
    const { identity } = agent
    const keyset = identity.keySet() as Parameters<HubClient['join']>[0]['keyset']
    await client.join({ history: [...identity.history] as Parameters<HubClient['join']>[0]['history'], keyset })
    const peer = new RawPeer(agent, client)
    const mailbox = await client.mailbox(
      {
        delivery: async ({ id, envelope }) => {
          peer.inbox.push(await peer.#sealing.open(envelope))
          await mailbox.acknowledge([id]).catch(() => undefined)
        },
        ephemeral: async (envelope) => void peer.inbox.push(await peer.#sealing.open(envelope)),
      },
      { pingEvery: 30_000, answerWithin: 5000 },
    )
    onTestFinished(async () => {
      mailbox.close()
      await client.close()
    })
    return peer
  }

  get aid(): Aid {
    return this.agent.identity.aid
  }

  newTask(): TaskKey {
    return { requester: this.aid, id: Buffer.from(crypto.randomBytes(16)).toString('hex') }
  }

  /** Seals a message to a node; `changes` overrides any field. */
  async seal(
    to: NetworkNode,
    type: MessageType | (string & {}),
    task: TaskKey | undefined,
    body: unknown,
    changes: Partial<Inner> = {},
  ): Promise<Uint8Array> {
    const now = Date.now()
    const fields = {
      from: this.aid,
      to: to.aid,
      type,
      ...(task === undefined ? {} : { task: task.id, requester: task.requester }),
      ack: -1,
      mid: crypto.randomBytes(16),
      ts: now,
      exp: now + limits.message.validFor,
      history: this.agent.identity.history,
      keyset: this.agent.identity.keySet(),
      head: null,
      peerHead: to.identity.head,
      ...changes,
    } as InnerFields
    const record = await this.client.lookup(to.aid)
    const key = keyOf(record.keyset.v)
    return await this.#sealing.seal(fields, encodeCbor(body), key, this.agent.signingKey)
  }

  async send(...message: Parameters<RawPeer['seal']>): Promise<void> {
    await this.client.send(await this.seal(...message))
  }
}

function keyOf(v: Uint8Array): EncryptionKey {
  const [key] = keySetSchema.parse(decodeCbor(v, limits.keySet.bytes)).keys
  if (key === undefined) throw new Error('this node has published no key')
  return key
}
