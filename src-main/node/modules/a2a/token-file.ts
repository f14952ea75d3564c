import { randomBytes } from 'node:crypto'
import { lstatSync, readFileSync, type Stats } from 'node:fs'
import { writePrivateFile } from '../../data-dir/index.ts'
import { isBearer } from '../../loopback/index.ts'
import type { Clock } from '../../ports.ts'

const tokenPattern = /^[0-9a-f]{64}\n?$/

/**
 * The bearer token of a listener, kept in a file (spec/a2a-endpoint.md, Address). The file is looked at on each request
 * and read again when it changed; unless it is a regular file of this user, 0600, with 64 hex characters, nobody is
 * authorised.
 */
export class TokenFile {
  readonly path: string
  /** Counts the tokens that were seen: a stream remembers the one that let it in. */
  generation = 0
  readonly #clock: Clock
  readonly #grace: number
  #stamp = ''
  #token: Buffer | undefined
  #problem: string | undefined = 'it has not been read yet'
  /** When each generation after the first replaced the one before. */
  readonly #replacedAt = new Map<number, number>()
  #revokedBefore = 0
  #lookedThisTurn = false

  constructor(options: { path: string; clock: Clock; replacedTokenGrace: number }) {
    this.path = options.path
    this.#clock = options.clock
    this.#grace = options.replacedTokenGrace
  }

  /** Compares in constant time with the token as it is in the file now. */
  authorised(authorization: string): boolean {
    this.#lookOncePerTurn()
    const token = this.#token
    return token !== undefined && isBearer(authorization, token)
  }

  /** Why nobody is authorised at the moment, or undefined. */
  problem(): string | undefined {
    this.#look()
    return this.#problem
  }

  /** Writes a new token; the old one is refused from the next request on. `emergency` ends the open streams as well. */
  async replace(options: { emergency?: boolean } = {}): Promise<void> {
    await writePrivateFile(this.path, `${randomBytes(32).toString('hex')}\n`)
    this.#look()
    if (options.emergency === true) this.#revokedBefore = this.generation
  }

  /** See {@link Exchange.tokenEnd}. */
  tokenEnd(generation: number): number | undefined {
    this.#look()
    if (generation < this.#revokedBefore) return this.#clock.now()
    if (generation === this.generation) return undefined
    return (this.#replacedAt.get(generation + 1) ?? this.#clock.now()) + this.#grace
  }

  /** Requests that were read in one turn of the event loop were there together: one look is enough for all of them. */
  #lookOncePerTurn(): void {
    if (this.#lookedThisTurn) return
    this.#lookedThisTurn = true
    setImmediate(() => {
      this.#lookedThisTurn = false
    })
    this.#look()
  }

  #look(): void {
    let stats: Stats
    try {
      stats = lstatSync(this.path)
    } catch {
      this.#become('missing', undefined, 'it cannot be read')
      return
    }
    const stamp = `${stats.ino}:${stats.size}:${stats.mtimeMs}:${stats.ctimeMs}`
    if (stamp === this.#stamp) return
    const problem = problemOf(stats)
    if (problem !== undefined) {
      this.#become(stamp, undefined, problem)
      return
    }
    let text: string
    try {
      text = readFileSync(this.path, 'latin1')
    } catch {
      this.#become(stamp, undefined, 'it cannot be read')
      return
    }
    if (tokenPattern.test(text)) this.#become(stamp, Buffer.from(text.trim(), 'latin1'), undefined)
    else this.#become(stamp, undefined, 'it does not hold 64 hexadecimal characters')
  }

  #become(stamp: string, token: Buffer | undefined, problem: string | undefined): void {
    this.#stamp = stamp
    this.#problem = problem
    const same = token === undefined ? this.#token === undefined : this.#token?.equals(token) === true
    if (same) return
    this.#token = token
    this.generation += 1
    this.#replacedAt.set(this.generation, this.#clock.now())
    for (const generation of this.#replacedAt.keys()) {
      if (generation <= this.generation - 16) this.#replacedAt.delete(generation)
    }
  }
}

function problemOf(stats: Stats): string | undefined {
  if (!stats.isFile()) return 'it is not a regular file'
  // Windows has neither owner ids nor modes; there the profile directory protects the file
  const uid = process.getuid?.()
  if (uid === undefined) return undefined
  if (stats.uid !== uid) return `it belongs to user ${stats.uid}`
  if ((stats.mode & 0o777) !== 0o600) return `its mode is ${(stats.mode & 0o777).toString(8)}, not 600`
  return stats.size > 66 ? 'it is too long' : undefined
}
