import type {
  Aid,
  Cid,
  EncryptionKey,
  KeyHistory,
  Signed,
  SigningKey,
  StatementType,
  VerifiedCard,
  VerifiedHistory,
} from '@shared/wire/index.ts'
import type { Tx } from '../store/index.ts'

/** This node's own identity. Private keys stay inside. */
export interface Identity {
  readonly aid: Aid
  readonly ksn: number
  readonly history: KeyHistory
  /** CID of the newest statement of the own history. */
  readonly head: Cid
  /** Signs a statement; `value` names its author itself where the format asks for it. */
  sign(t: StatementType, value: unknown): Signed
  /** Ed25519 signature over bytes: for JWS (card signatures). */
  signRaw(data: Uint8Array): Uint8Array
  readonly publicKey: Uint8Array
  /** For requests to the hub (signHubRequest). */
  readonly signingKey: SigningKey
  /** The signed key set to publish and to send along. */
  keySet(): Signed
  /** Opens a sealed message; undefined if the private half is gone or was never here. Private halves are X25519, 32 bytes. */
  encryptionPrivateKey(kid: string): Uint8Array | undefined
  /** Adds a new encryption key when the newest is 7 days old and deletes halves past their time. True if the set changed. */
  rotateEncryptionKeys(now: number): Promise<boolean>
  /** Signs the network card over these JSON bytes with the next seq. */
  signCard(tx: Tx, cardJson: Uint8Array, now: number): Signed
  /** Signs that the card is taken back, with the next seq of the card's series. */
  withdrawCard(tx: Tx, now: number): Signed
}

export type Verification = 'VERIFIED' | 'UNVERIFIED'
export type KeyState = 'fresh' | 'stale'

export interface Peer {
  readonly aid: Aid
  readonly history: VerifiedHistory
  /** Newest verified network card, if it has not been withdrawn or expired. */
  readonly card: VerifiedCard | undefined
  /** The signed network card as stored (encodeSigned). */
  readonly cardBytes: Uint8Array | undefined
  readonly keyState: KeyState
  /** Two valid statements at one seq: nothing is accepted from this peer until the operator chooses. */
  readonly forked: boolean
}

/** What an agent says about itself, as it came with a message or from a hub. Nothing of it is verified yet. */
export interface PeerNews {
  readonly history: KeyHistory
  readonly keyset?: Signed
  readonly card?: Signed
  /** Says that the card was taken back. */
  readonly withdrawal?: Signed
}

/** Two valid statements that cannot both be meant, signed by the same agent: proof against it. */
export interface PeerFork {
  readonly kind: 'history' | 'key-set' | 'card'
  /** Number of the two statements. */
  readonly seq: number
  /** What was held first and what came later: an encoded history (encodeHistory), or a statement (encodeSigned). */
  readonly known: Uint8Array
  readonly other: Uint8Array
  /** Milliseconds since 1970. */
  readonly at: number
}

/** What other agents proved about themselves. A history only ever grows; seq of key set and card never falls. */
export interface Peers {
  get(aid: Aid): Peer | undefined
  encryptionKey(aid: Aid, now: number): EncryptionKey | undefined
  /**
   * Verifies and stores what came with a message or from a look-up, against the AID that was expected. Inside a
   * message a shorter history or lower seq is merely old (`source: 'message'`); on a look-up it is `rollback`.
   * Errors: `rollback`, `fork` (kept as proof, the peer is quarantined), and those of the wire verifiers. The proof is
   * kept whether the caller's transaction is rolled back or not. From a peer in quarantine nothing is learned: the
   * answer is what is stored, with `forked` true.
   */
  learn(tx: Tx, expected: Aid, news: PeerNews, source: 'message' | 'lookup', now: number): Peer
  /** Verifies a message statement against the stored history (call after learn). */
  verifyMessage(signed: Signed, from: Aid): boolean
  /** Of several AIDs; unknown ones are absent. For lists. */
  many(aids: readonly Aid[]): Map<Aid, Peer>
  /** The proofs against a peer in quarantine, oldest first. */
  forks(aid: Aid): readonly PeerFork[]
}
