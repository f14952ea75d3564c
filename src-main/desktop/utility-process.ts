import { createWriteStream } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { utilityProcess, type UtilityProcess } from 'electron'
import type { CreateProcess } from '../demo/index.ts'
import type { StartChild } from '../node/secrets/index.ts'

/** What steers this process is not meant for its children. */
function childEnvironment(): NodeJS.ProcessEnv {
  const env = { ...process.env }
  for (const name of ['ANET_DATA_DIR', 'ANET_FAULT', 'NODE_OPTIONS']) delete env[name]
  return env
}

/** `kill` of a utility process is SIGTERM, which native code that hangs does not hear. */
function killAtOnce(child: UtilityProcess): void {
  if (child.pid !== undefined) process.kill(child.pid, 'SIGKILL')
}

/** Processes of the demo. In a fused package `fork` would start the application again. */
export const createUtilityProcess: CreateProcess = (entry, errorLog) => {
  const child = utilityProcess.fork(fileURLToPath(entry), [], {
    env: childEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  child.stderr?.pipe(createWriteStream(errorLog, { flags: 'a', mode: 0o600 }))
  return {
    get pid() {
      return child.pid
    },
    send: (message) => child.postMessage(message),
    onMessage: (listener) => void child.on('message', listener),
    onEnd: (listener) => void child.once('exit', listener),
    kill: () => killAtOnce(child),
  }
}

/** The child that talks to the keychain. */
export const startUtilityChild: StartChild = (entry) => {
  const child = utilityProcess.fork(entry, [], { env: childEnvironment(), stdio: 'ignore' })
  return {
    send: (message) => child.postMessage(message),
    listen: (onMessage, onEnd) => {
      child.on('message', onMessage)
      child.once('exit', (code) => onEnd(`it ended with status ${code}`))
    },
    kill: () => killAtOnce(child),
  }
}
