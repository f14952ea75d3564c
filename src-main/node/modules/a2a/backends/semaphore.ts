/** Lets a bounded number of holders in, first come first served. */
export class Semaphore {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(size: number) {
    this.#free = size
  }

  /** Resolves with the function that gives the place back. Rejects with the signal's reason. */
  acquire(signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted()
      const enter = () => {
        signal.removeEventListener('abort', leave)
        let held = true
        resolve(() => {
          if (!held) return
          held = false
          const next = this.#waiting.shift()
          if (next === undefined) this.#free += 1
          else next()
        })
      }
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1)
        reject(signal.reason)
      }
      if (this.#free > 0) {
        this.#free -= 1
        enter()
      } else {
        this.#waiting.push(enter)
        signal.addEventListener('abort', leave, { once: true })
      }
    })
  }
}
