/** A number that only grows. */
export class Counter {
  value = 0

  add(amount: number): void {
    this.value += amount
  }
}

/** What the hub counts. Numbers only: no AID, no address. */
export class HubMetrics {
  readonly stored = new Counter()
  readonly storedBytes = new Counter()
  readonly delivered = new Counter()
  readonly acknowledged = new Counter()
  readonly expired = new Counter()
  readonly ephemeral = new Counter()
  readonly ephemeralDropped = new Counter()
  /** By route and status. */
  readonly requests = new Map<string, Counter>()

  request(route: string, status: number): void {
    const name = `route="${route}",status="${status}"`
    let counter = this.requests.get(name)
    if (counter === undefined) this.requests.set(name, (counter = new Counter()))
    counter.add(1)
  }
}
