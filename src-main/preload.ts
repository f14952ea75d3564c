import { contextBridge, ipcRenderer } from 'electron'
import { desktopContract, nodeContract, type OperationTree } from '@shared/contract/index.ts'
import { callChannel, eventChannel, subscribeChannel } from './desktop/channels.ts'

type Bridge = Record<string, Record<string, (input: unknown) => Promise<unknown>>>

/** One function for each operation of the contract and no other way to the main process. */
function bridgeOf(contract: OperationTree): Bridge {
  const groups = Object.entries(contract).map(([group, operations]) => [
    group,
    Object.fromEntries(
      Object.keys(operations).map((name) => {
        const channel = callChannel(`${group}.${name}`)
        return [name, (input: unknown) => ipcRenderer.invoke(channel, input)]
      }),
    ),
  ])
  return Object.fromEntries(groups) as Bridge
}

/** Each call answers with a result envelope: an error's code would not survive as an exception. */
contextBridge.exposeInMainWorld('anet', {
  node: bridgeOf(nodeContract),
  desktop: bridgeOf(desktopContract),
  /** Announces this page and hands it every event from then on, beginning with the slices as they are. */
  subscribe: (listener: (event: unknown) => void) => {
    const receive = (_event: unknown, event: unknown): void => listener(event)
    ipcRenderer.on(eventChannel, receive)
    void ipcRenderer.invoke(subscribeChannel)
    return () => {
      ipcRenderer.removeListener(eventChannel, receive)
    }
  },
})
