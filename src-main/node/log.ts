import { closeSync, constants, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { humanLine } from './log-line.ts'
import { logError, redacted } from './log-redaction.ts'
import type { Log } from './ports.ts'

export interface LogOptions {
  /** Lines go to `logs/` in it; without one only to stderr. */
  readonly dataDir?: string
  /** The program that logs, and so the name of its files. */
  readonly program?: 'node' | 'hub'
  readonly level?: 'debug' | 'info' | 'warn' | 'error'
  /** Writes readable lines to stderr as well: for runs in the foreground. */
  readonly stderr?: boolean
  /** Size at which a file is closed and numbered, in bytes. */
  readonly maxFileBytes?: number
}

/** `node.log` (or `hub.log`), and before it `node.1.log` to `node.4.log`. */
const filesKept = 5

/**
 * The log of a process: JSON lines (pino), secrets left out by the names of their fields, in files of 5 MiB of which
 * five are kept. A line is written when the call returns. A log that cannot be written stops nothing.
 */
export function createLog(options: LogOptions = {}): Log {
  const { dataDir, level = 'info', stderr = dataDir === undefined, maxFileBytes = 5 * 1024 * 1024 } = options
  const file =
    dataDir === undefined ? undefined : new RotatedFile(join(dataDir, 'logs'), options.program ?? 'node', maxFileBytes)
  const write = (line: string): void => {
    file?.write(line)
    if (stderr) process.stderr.write(humanLine(line, process.stderr.isTTY))
  }
  const log = pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: logError },
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => redacted(fields),
      },
    },
    { write },
  )
  // pino's formatters do not see the bindings of children, and children inherit this
  const { child } = log
  log.child = function (this: Log, bindings, ...options) {
    return child.call(this, redacted(bindings), ...options)
  } as typeof log.child
  return log
}

class RotatedFile {
  readonly #folder: string
  readonly #program: string
  readonly #maxBytes: number
  #fd: number | undefined
  #size = 0

  constructor(folder: string, program: string, maxBytes: number) {
    this.#folder = folder
    this.#program = program
    this.#maxBytes = maxBytes
  }

  /** Synchronous, so that the last line before a crash is there. */
  write(line: string): void {
    try {
      const bytes = Buffer.from(line)
      if (this.#fd !== undefined && this.#size + bytes.length > this.#maxBytes) this.#rotate()
      this.#fd ??= this.#open()
      this.#size += writeSync(this.#fd, bytes)
    } catch {
      // a full disk or a folder that is gone must not end the node; the next line tries again
      this.#close()
    }
  }

  #open(): number {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW
    const fd = openSync(this.#path(0), flags, 0o600)
    this.#size = fstatSync(fd).size
    return fd
  }

  #rotate(): void {
    this.#close()
    for (let number = filesKept - 1; number > 0; number -= 1) {
      try {
        renameSync(this.#path(number - 1), this.#path(number))
      } catch {
        // not that many files yet
      }
    }
  }

  #close(): void {
    if (this.#fd === undefined) return
    const fd = this.#fd
    this.#fd = undefined
    closeSync(fd)
  }

  #path(number: number): string {
    return join(this.#folder, `${this.#program}${number === 0 ? '' : `.${number}`}.log`)
  }
}
