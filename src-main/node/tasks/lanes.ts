/** Work with the same name goes one after the other, in the order in which it was handed in; other work beside it. */
export class Lanes {
  readonly #tails = new Map<string, Promise<unknown>>()

  run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const result = (this.#tails.get(name) ?? Promise.resolve()).then(work)
    // the next one runs whatever became of this one, whose failure is its caller's
    const tail = result.then(
      () => undefined,
      () => undefined,
    )
    this.#tails.set(name, tail)
    void tail.then(() => {
      if (this.#tails.get(name) === tail) this.#tails.delete(name)
    })
    return result
  }

  /** Resolves when nothing is under way any more. */
  async idle(): Promise<void> {
    while (this.#tails.size > 0) {
      // oxlint-disable-next-line no-await-in-loop -- what is running may hand in more
      await Promise.all(this.#tails.values())
    }
  }
}
