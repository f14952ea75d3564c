import { connect, type Socket } from 'node:net'

export interface RawAnswer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/** A connection on which a test writes what it likes and reads answers one by one. */
export class RawConnection {
  readonly socket: Socket
  #received = Buffer.alloc(0)
  #ended = false
  #wake: () => void = () => undefined

  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk])
      this.#wake()
    })
    const end = (): void => {
      this.#ended = true
      this.#wake()
    }
    socket.on('end', end)
    socket.on('close', end)
    socket.on('error', end)
  }

  static async open(port: number, host = '127.0.0.1'): Promise<RawConnection> {
    const socket = connect({ port, host, allowHalfOpen: true })
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', () => resolve())
      socket.once('error', reject)
    })
    return new RawConnection(socket)
  }

  write(...lines: readonly string[]): void {
    this.socket.write(lines.join('\r\n'))
  }

  /** Reads one answer: by Content-Length, by chunks, or without a body for 1xx, 204 and 304. */
  async answer(): Promise<RawAnswer> {
    const head = (await this.#until('\r\n\r\n')).toString('latin1')
    const [first = '', ...lines] = head.trimEnd().split('\r\n')
    const headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const
      }),
    )
    const status = Number(first.split(' ')[1])
    if (status < 200 || status === 204 || status === 304) return { status, headers, body: '' }
    const length = headers.get('content-length')
    if (length !== undefined) return { status, headers, body: (await this.#take(Number(length))).toString('utf8') }
    let body = ''
    for (;;) {
      const size = Number.parseInt((await this.#until('\r\n')).toString('latin1'), 16)
      body += (await this.#take(size)).toString('utf8')
      await this.#take(2)
      if (size === 0) return { status, headers, body }
    }
  }

  /** True if the other side closes without sending more. */
  async closed(): Promise<boolean> {
    while (!this.#ended && this.#received.byteLength === 0) await this.#more()
    return this.#received.byteLength === 0
  }

  /** Everything up to and including this text, from a stream. */
  async until(text: string): Promise<string> {
    return (await this.#until(text)).toString('utf8')
  }

  destroy(): void {
    this.socket.destroy()
  }

  async #until(text: string): Promise<Buffer> {
    for (;;) {
      const at = this.#received.indexOf(text)
      if (at >= 0) return this.#take(at + text.length)
      if (this.#ended)
        throw new Error(`The connection ended after ${JSON.stringify(this.#received.toString('latin1'))}`)
      await this.#more()
    }
  }

  async #take(bytes: number): Promise<Buffer> {
    while (this.#received.byteLength < bytes) {
      if (this.#ended) throw new Error('The connection ended in the middle of an answer.')
      await this.#more()
    }
    const taken = this.#received.subarray(0, bytes)
    this.#received = this.#received.subarray(bytes)
    return taken
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
}
