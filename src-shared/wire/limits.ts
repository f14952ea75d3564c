const KiB = 1024
const MiB = 1024 * KiB
const minute = 60_000
const day = 24 * 60 * minute

/** Sizes in bytes, times in milliseconds (spec/network.md). Both ends of the network hold each other to them. */
export const limits = {
  /** Lists and maps within each other, in any decoded value. */
  depth: 128,
  /** In any encoding that is decoded, heads of lists and maps and names included. What is decoded takes 40 times a byte. */
  values: 1_000_000,
  /** The last places and bytes are for an emergency rotation and a deactivation: planned rotations end before them. */
  history: { statements: 256, reserved: 2, bytes: 64 * KiB, reservedBytes: 2 * KiB },
  keySet: { bytes: 16 * KiB, rotateEvery: 7 * day, validFor: 14 * day, keepPrivateFor: 15 * day },
  card: { bytes: 256 * KiB, validFor: 30 * day },
  message: {
    partBytes: 64 * MiB,
    /** Signed and padded plaintext of one sealed message. */
    bytes: 96 * MiB,
    /** Of a body: the rest is for what is around it. */
    values: 990_000,
    /** Envelope on the hub: plaintext plus HPKE overhead and header. */
    envelopeBytes: 97 * MiB,
    validFor: 14 * day,
    futureSkew: 10 * minute,
    midBytes: 16,
  },
  previewBytes: 1 * MiB,
  request: { skew: 5 * minute, bodyBytes: 1 * MiB, nonceBytes: 16 },
  mailbox: { messages: 5000, bytes: 1024 * MiB, keepFor: 14 * day, senderShare: 0.05 },
  rate: { perSecond: 20, burst: 200 },
  headStatement: { freshFor: 10 * minute, futureSkew: 2 * minute },
} as const
