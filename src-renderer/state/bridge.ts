import {
  createClient,
  desktopContract,
  type DesktopClient,
  nodeContract,
  type NodeClient,
  type NodeEvent,
  type OperationTree,
  type ShellEvent,
} from '@shared/contract/index.ts'

type Calls = Readonly<Record<string, Readonly<Record<string, (input: unknown) => Promise<unknown>>>>>

/** What the preload script hands to the page. */
interface Bridge {
  readonly node: Calls
  readonly desktop: Calls
  subscribe(listener: (event: NodeEvent | ShellEvent) => void): () => void
}

declare global {
  interface Window {
    readonly anet: Bridge
  }
}

function clientOf<T extends OperationTree>(contract: T, calls: Calls): ReturnType<typeof createClient<T>> {
  return createClient(contract, async (method, input) => {
    const [group = '', name = ''] = method.split('.')
    return calls[group]?.[name]?.(input)
  })
}

/** The node's operations. Calls throw an AnetError with code, message and remedy. */
export const node: NodeClient = clientOf(nodeContract, window.anet.node)
/** The shell's operations: dialogs, clipboard, set-up. */
export const desktop: DesktopClient = clientOf(desktopContract, window.anet.desktop)

export function subscribe(listener: (event: NodeEvent | ShellEvent) => void): () => void {
  return window.anet.subscribe(listener)
}
