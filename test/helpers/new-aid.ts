import { randomBytes } from 'node:crypto'

/** Something of the form of an AID; no key belongs to it. */
export function newAid(): string {
  const letters = 'abcdefghijklmnopqrstuvwxyz234567'
  const random = Array.from(randomBytes(50), (byte) => letters[byte % 32])
  return `bafyreia${random.join('')}a`
}
