import { fork } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'

/** A process with a channel of messages, however the platform makes one. */
export interface DemoProcess {
  readonly pid: number | undefined
  /** Is lost when the process has ended. */
  send(message: unknown): void
  onMessage(listener: (message: unknown) => void): void
  /** Called once, also when the process could not be started. */
  onEnd(listener: () => void): void
  /** Ends it at once. */
  kill(): void
}

/** Starts the program `entry`. What it writes to stderr goes to the end of `errorLog`. Under Electron another one is handed in. */
export type CreateProcess = (entry: URL, errorLog: string) => DemoProcess

export const forkProcess: CreateProcess = (entry, errorLog) => {
  const env = { ...process.env }
  // what steers this process is not meant for the nodes of the demo
  for (const name of ['ANET_DATA_DIR', 'ANET_FAULT', 'NODE_OPTIONS']) delete env[name]
  const log = openSync(errorLog, 'a', 0o600)
  try {
    const child = fork(entry, [], { execArgv: [], env, stdio: ['ignore', 'ignore', log, 'ipc'] })
    return {
      get pid() {
        return child.pid
      },
      send: (message) => void child.send(message as object, () => undefined),
      onMessage: (listener) => void child.on('message', listener),
      onEnd(listener) {
        child.once('exit', listener)
        child.once('error', () => {
          if (child.pid === undefined) listener()
        })
      },
      kill: () => void child.kill('SIGKILL'),
    }
  } finally {
    closeSync(log)
  }
}
