/** A socket that listens, as /proc/net/tcp{,6} shows it. */
export interface ListeningSocket {
  /** IPv4 or IPv6 address as 4 or 16 bytes. */
  readonly address: readonly number[]
  readonly port: number
  readonly uid: number
}

const listen = '0A'

/** Reads the listening sockets from the text of /proc/net/tcp or tcp6. Lines that do not parse are skipped. */
export function parseProcNetTcp(text: string): ListeningSocket[] {
  const sockets: ListeningSocket[] = []
  for (const line of text.split('\n').slice(1)) {
    const fields = line.trim().split(/\s+/)
    const [address, port] = (fields[1] ?? '').split(':')
    if (fields[3] !== listen || address === undefined || port === undefined) continue
    sockets.push({ address: addressBytes(address), port: Number.parseInt(port, 16), uid: Number(fields[7]) })
  }
  return sockets
}

/** The kernel prints each 32-bit word of an address in the byte order of the machine, which is little-endian here. */
function addressBytes(hex: string): number[] {
  const words = hex.match(/.{8}/g) ?? []
  return words.flatMap((word) => (word.match(/../g) ?? []).toReversed().map((byte) => Number.parseInt(byte, 16)))
}

/**
 * uids of all sockets that may have accepted a connection to this address and port: those on the very address, and
 * where there is none those on the unspecified address (an IPv6 one serves IPv4 as well).
 */
export function listenerUids(sockets: readonly ListeningSocket[], address: string, port: number): Set<number> {
  const onPort = sockets.filter((socket) => socket.port === port)
  const wanted = textBytes(address)
  const exact = onPort.filter((socket) => sameAddress(socket.address, wanted))
  const found = exact.length > 0 ? exact : onPort.filter((socket) => socket.address.every((byte) => byte === 0))
  return new Set(found.map((socket) => socket.uid))
}

const mapped = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]

function textBytes(address: string): number[] {
  const v4 = address.match(/^(?:::ffff:)?(\d+)\.(\d+)\.(\d+)\.(\d+)$/i)
  if (v4) return v4.slice(1).map(Number)
  return address === '::1' ? [...Array<number>(15).fill(0), 1] : []
}

function sameAddress(a: readonly number[], b: readonly number[]): boolean {
  const short = (bytes: readonly number[]) =>
    bytes.length === 16 && mapped.every((byte, index) => bytes[index] === byte) ? bytes.slice(12) : bytes
  const left = short(a)
  const right = short(b)
  return left.length === right.length && left.every((byte, index) => byte === right[index])
}
