import { type IpcMainInvokeEvent, ipcMain, type WebContents } from 'electron'
import {
  type ClientOf,
  desktopContract,
  type DesktopHandlers,
  handle,
  type HandlersOf,
  nodeContract,
  type NodeClient,
  type NodeEvent,
  type OperationTree,
  type Result,
  type ShellEvent,
} from '@shared/contract/index.ts'
import { AnetError, errorView } from '@shared/errors.ts'
import { callChannel, eventChannel, subscribeChannel } from './channels.ts'
import { trustedOrigin } from './protocol.ts'

const maxInputBytes = 4 * 1024 * 1024

export interface IpcOptions {
  /** The contents of the one window, if it is open. */
  readonly contents: () => WebContents | undefined
  /** The node as it is now; throws an AnetError that says why there is none. */
  readonly node: () => NodeClient
  readonly desktop: DesktopHandlers
  /** The slices as they are, for a page that has just subscribed. */
  readonly snapshot: () => readonly (NodeEvent | ShellEvent)[]
  readonly onUnexpected: (error: unknown) => void
}

export interface Ipc {
  /** Hands an event to the page, if it has subscribed. */
  send(event: NodeEvent | ShellEvent): void
}

/** The contracts over Electron IPC: known sender, exact origin, bounded and parsed input, result envelope. */
export function registerIpc(options: IpcOptions): Ipc {
  let subscriber: WebContents | undefined

  const register = <T extends OperationTree>(contract: T, implementation: () => HandlersOf<T> | ClientOf<T>): void => {
    for (const [group, operations] of Object.entries(contract)) {
      for (const name of Object.keys(operations)) {
        const method = `${group}.${name}`
        ipcMain.handle(callChannel(method), async (event, input: unknown): Promise<Result> => {
          try {
            checkSender(event, options.contents())
            checkSize(input)
            return await handle(contract, implementation(), method, input, options.onUnexpected)
          } catch (error) {
            if (!(error instanceof AnetError)) options.onUnexpected(error)
            return { ok: false, error: errorView(error) as Extract<Result, { ok: false }>['error'] }
          }
        })
      }
    }
  }
  register(nodeContract, options.node)
  register(desktopContract, () => options.desktop)

  const send = (event: NodeEvent | ShellEvent): void => {
    if (subscriber !== undefined && !subscriber.isDestroyed()) subscriber.send(eventChannel, event)
  }
  ipcMain.handle(subscribeChannel, (event) => {
    checkSender(event, options.contents())
    subscriber = event.sender
    for (const slice of options.snapshot()) send(slice)
  })
  return { send }
}

/** Only the top frame of the window's own page may call. */
function checkSender(event: IpcMainInvokeEvent, window: WebContents | undefined): void {
  const frame = event.senderFrame
  const known = window !== undefined && event.sender === window
  if (!known || frame === null || frame.parent !== null || frame.origin !== trustedOrigin) {
    throw new AnetError('forbidden_sender', 'Only the window of ANet may call this.')
  }
}

function checkSize(input: unknown): void {
  const size = sizeOf(input)
  if (size > maxInputBytes) {
    throw new AnetError('input_too_large', `This call carries ${size} characters; ${maxInputBytes} are allowed.`, {
      remedy: 'Send long content as a file.',
    })
  }
}

/** Inputs are JSON; the page could also send what JSON has no form for. */
function sizeOf(input: unknown): number {
  try {
    return JSON.stringify(input)?.length ?? 0
  } catch (cause) {
    throw new AnetError('invalid_input', 'The input of a call must be JSON.', { cause })
  }
}
