import { Aes256Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from '@hpke/core'
import {
  decodeBase64Url,
  decodeCbor,
  encodeBody,
  encodeCbor,
  encodeEnvelope,
  encodeHistory,
  encodeSigned,
  envelopeInfo,
  pad,
  padmeLength,
  sealingSuite,
  type Signed,
  signedBytes,
  signHubRequest,
  signStatement,
  statementId,
  verifyHistory,
} from '@shared/wire/index.ts'
import { nextKeySeed, recoverySeed } from '../../src-main/node/secrets/index.ts'
import { cardOf, crypto, day, encryptionPair, fixedBytes, fixedCrypto, KeyHolder, start } from './key-holder.ts'

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

/** A statement with all its steps, so that another implementation sees where it differs. */
function steps(signed: Signed): Record<string, unknown> {
  return {
    t: signed.t,
    v: hex(signed.v),
    id: statementId(crypto, signed),
    sigs: signed.sigs.map(({ by, ksn, sig }) => ({
      by,
      ksn,
      signedBytes: hex(signedBytes(signed.t, by, ksn, signed.v)),
      sig: hex(sig),
    })),
    encoded: hex(encodeSigned(signed)),
  }
}

const phrase = `${'abandon '.repeat(23)}art`

async function recovery(): Promise<unknown> {
  const seed = await recoverySeed(phrase)
  return {
    phrase,
    seed: hex(seed),
    nextKeys: [1, 2, 255].map((n) => {
      const privateKey = nextKeySeed(seed, n)
      const publicKey = crypto.ed25519PublicKey(privateKey)
      return {
        n,
        info: hex(encodeCbor(['anet/next', n])),
        privateKey: hex(privateKey),
        publicKey: hex(publicKey),
        commitment: hex(crypto.sha256(publicKey)),
      }
    }),
  }
}

function history(alice: KeyHolder): unknown {
  const copy = new KeyHolder(alice.label)
  copy.append(copy.rotation())
  copy.append(copy.rotation({ emergency: true }))
  copy.append(copy.deactivation())
  const [inception] = alice.history
  if (inception === undefined) throw new Error('no inception')
  const { aid: _aid, ...core } = decodeCbor(inception.v, 4096) as Record<string, unknown>
  return {
    aid: alice.aid,
    inceptionWithoutAid: hex(encodeCbor(core)),
    keys: [0, 1, 2, 3].map((n) => ({
      ksn: n,
      privateKey: hex(alice.seed(n)),
      publicKey: hex(crypto.ed25519PublicKey(alice.seed(n))),
    })),
    statements: copy.history.map(steps),
    head: verifyHistory(crypto, copy.history).head,
    encoded: hex(encodeHistory(copy.history)),
  }
}

async function message(alice: KeyHolder, bob: KeyHolder): Promise<unknown> {
  const recipient = encryptionPair(bob.label)
  const body = {
    contextId: 'c0ffee',
    nonce: fixedBytes('task nonce'),
    message: {
      messageId: 'm-1',
      role: 'ROLE_USER',
      parts: [
        { text: 'hello' },
        { raw: Uint8Array.of(0, 1, 255), mediaType: 'application/octet-stream', filename: 'a.bin' },
      ],
    },
  }
  const inner = {
    from: alice.aid,
    to: bob.aid,
    type: 'task.open',
    task: hex(fixedBytes('task').slice(0, 16)),
    requester: alice.aid,
    n: 0,
    ack: -1,
    mid: fixedBytes('mid').slice(0, 16),
    ts: start + day,
    exp: start + 15 * day,
    body,
    history: alice.history.map(({ t, v, sigs }) => ({ t, v, sigs })),
    keyset: alice.keySet(start),
    head: null,
    peerHead: bob.head,
  }
  const signed = signStatement(crypto, 'message', inner, [alice.key(0)])
  const plaintext = encodeSigned(signed)
  const padded = pad(plaintext)
  const suite = new CipherSuite({ kem: new DhkemX25519HkdfSha256(), kdf: new HkdfSha256(), aead: new Aes256Gcm() })
  const own = (bytes: Uint8Array): ArrayBuffer => new Uint8Array(bytes).buffer
  const info = envelopeInfo(bob.aid, recipient.key.kid)
  const ephemeral = fixedBytes('ephemeral')
  const sender = await suite.createSenderContext({
    recipientPublicKey: await suite.kem.deserializePublicKey(own(recipient.key.key)),
    info: own(info),
    ekm: own(ephemeral),
  })
  const ct = new Uint8Array(await sender.seal(own(padded)))
  const enc = new Uint8Array(sender.enc)
  return {
    body: hex(encodeBody('task.open', body)),
    bodyDigest: hex(crypto.sha256(encodeBody('task.open', body))),
    signed: steps(signed),
    length: plaintext.byteLength,
    paddedLength: padded.byteLength,
    recipient: {
      aid: bob.aid,
      kid: recipient.key.kid,
      publicKey: hex(recipient.key.key),
      privateKey: hex(recipient.privateKey),
    },
    info: hex(info),
    ikmE: hex(ephemeral),
    envelope: hex(encodeEnvelope({ p: 'anet/1', to: bob.aid, suite: sealingSuite, kid: recipient.key.kid, enc, ct })),
  }
}

function request(alice: KeyHolder, hub: KeyHolder): unknown {
  const body = encodeCbor({ aid: alice.aid })
  const asked = { hub: hub.aid, time: start, method: 'POST', path: '/hub/v1/lookup', body }
  const header = signHubRequest(fixedCrypto('request'), alice.key(0), asked)
  return {
    hub: hub.aid,
    method: asked.method,
    path: asked.path,
    time: asked.time,
    body: hex(body),
    bodyHash: hex(crypto.sha256(body)),
    header,
    encoded: hex(decodeBase64Url(header, 8192)),
  }
}

/** Everything another implementation needs to compare itself with. The same in each run. */
export async function protocolVectors(): Promise<unknown> {
  const [alice, bob, hub] = [new KeyHolder('alice'), new KeyHolder('bob'), new KeyHolder('hub')]
  return {
    note: 'Bytes are lower-case hex, times are milliseconds since 1970. Explained in protocol.md.',
    recoveryPhrase: await recovery(),
    keyHistory: history(alice),
    keySet: steps(alice.keySet(start)),
    card: steps(alice.card(start, {}, cardOf('Alice'))),
    cardWithdrawal: steps(alice.withdrawal(start + 1)),
    padding: [0, 1, 5, 8, 9, 100, 1000, 10_000, 1_000_000].map((length) => ({
      length,
      padded: padmeLength(length + 4),
    })),
    message: await message(alice, bob),
    hubRequest: request(alice, hub),
  }
}
