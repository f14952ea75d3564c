import { fork } from 'node:child_process'

/** A child process that answers one request. Electron starts utility processes, plain Node forks. */
export interface Child {
  send(message: unknown): void
  /** `onEnd` is called once, however the child ended or failed to start; nothing is announced after it. */
  listen(onMessage: (message: unknown) => void, onEnd: (why: string) => void): void
  /** SIGKILL: a child that hangs in native code hears nothing less. */
  kill(): void
}
/** `entry`: absolute path of a built entry point. */
export type StartChild = (entry: string) => Child

/** Starts children of plain Node. Nothing is inherited but the environment, which holds no secret. */
export const forkChild: StartChild = (entry) => {
  const child = fork(entry, [], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'], execArgv: [] })
  return {
    send: (message) => {
      // a child that is gone is announced by its exit
      child.send(message as object, () => {})
    },
    listen: (onMessage, onEnd) => {
      child.on('message', onMessage)
      child.once('error', (error) => onEnd(error.message))
      child.once('exit', (code, signal) =>
        onEnd(signal === null ? `it ended with status ${code}` : `it ended by ${signal}`),
      )
    },
    kill: () => {
      child.kill('SIGKILL')
    },
  }
}
