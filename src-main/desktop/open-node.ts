import { setTimeout as delay } from 'node:timers/promises'
import { isAnetError } from '@shared/errors.ts'
import { connectControl } from '../node/control/index.ts'
import { startNode } from '../node/node.ts'
import type { AttachedNode } from './session.ts'
import { startUtilityChild } from './utility-process.ts'

const askAgainMs = 250

/**
 * Starts the node in this process. If one runs already on the data directory, the window looks at that one through its
 * control plane instead. Errors: those of `startNode`; `passphrase_needed` without one where it is needed.
 */
export async function openNode(dataDir: string, passphrase: string | undefined): Promise<AttachedNode> {
  try {
    const node = await startNode({
      dataDir,
      kind: 'desktop',
      keychain: { startChild: startUtilityChild },
      ...(passphrase === undefined ? {} : { passphrase: () => Promise.resolve(passphrase) }),
    })
    return { door: node.door, attached: false, close: () => node.stop(), ended: node.stopped }
  } catch (error) {
    if (!isAnetError(error, 'node_running')) throw error
    return attach(dataDir)
  }
}

async function attach(dataDir: string): Promise<AttachedNode> {
  let ended: () => void = () => {}
  const lost = new Promise<void>((resolve) => {
    ended = resolve
  })
  let connected = false
  let closed = false
  const door = connectControl({
    dataDir,
    onConnection: (now) => {
      connected = now
      if (!now) void stillThere()
    },
  })
  /** The event connection went: either it comes back by itself, or the node is gone, perhaps only in a moment. */
  const stillThere = async (): Promise<void> => {
    while (!connected && !closed) {
      try {
        await door.client.node.status({})
      } catch (error) {
        if (isAnetError(error, 'node_not_running')) return ended()
      }
      await delay(askAgainMs)
    }
  }
  await door.client.node.status({})
  return {
    door,
    attached: true,
    ended: lost,
    close: () => {
      closed = true
      door.close()
      return Promise.resolve()
    },
  }
}
