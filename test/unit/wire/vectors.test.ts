import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Aes256Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from '@hpke/core'
import {
  authHeader,
  decodeCbor,
  decodeEnvelope,
  decodeHistory,
  decodeSigned,
  encodeCbor,
  hubErrorCodes,
  hubPaths,
  innerSchema,
  messageTypes,
  parseBody,
  readStatement,
  statementTypes,
  unpad,
  verifyHistory,
  verifySignature,
} from '@shared/wire/index.ts'
import { crypto } from '../../helpers/key-holder.ts'
import { protocolVectors } from '../../helpers/protocol-vectors.ts'

const path = resolve(import.meta.dirname, '../../../docs/protocol-vectors.json')
const vectorsSchema = z.object({
  keyHistory: z.object({ aid: z.string(), head: z.string(), encoded: z.string() }),
  message: z.object({
    recipient: z.object({ aid: z.string(), privateKey: z.string() }),
    info: z.string(),
    envelope: z.string(),
    bodyDigest: z.string(),
  }),
})

function bytes(hex: string): ArrayBuffer {
  return new Uint8Array(Buffer.from(hex, 'hex')).buffer
}

describe('docs/protocol-vectors.json', () => {
  // after a change of a format: npx vitest run --project unit test/unit/wire/vectors -u
  it('is what this implementation writes', async () => {
    await expect(`${JSON.stringify(await protocolVectors(), null, 2)}\n`).toMatchFileSnapshot(path)
  })

  it('can be read with nothing but what it holds', async () => {
    const vectors = vectorsSchema.parse(JSON.parse(await readFile(path, 'utf8')))
    const { aid, head, encoded } = vectors.keyHistory
    expect(verifyHistory(crypto, decodeHistory(new Uint8Array(bytes(encoded))), aid).head).toBe(head)

    const { recipient, info, envelope, bodyDigest } = vectors.message
    const { enc, ct, to } = decodeEnvelope(new Uint8Array(bytes(envelope)))
    expect(to).toBe(recipient.aid)
    const suite = new CipherSuite({ kem: new DhkemX25519HkdfSha256(), kdf: new HkdfSha256(), aead: new Aes256Gcm() })
    const recipientKey = await suite.kem.deserializePrivateKey(bytes(recipient.privateKey))
    const opened = await suite.open(
      { recipientKey, enc: new Uint8Array(enc).buffer, info: bytes(info) },
      new Uint8Array(ct).buffer,
    )
    const signed = decodeSigned(unpad(new Uint8Array(opened)), 'message', 1_000_000)
    const inner = readStatement(signed, innerSchema, 1_000_000)
    const history = verifyHistory(crypto, inner.history, inner.from)
    expect(history.key !== null && verifySignature(crypto, signed, inner.from, history.seq, history.key)).toBe(true)
    expect(parseBody('task.open', inner.body).message.parts[0]).toEqual({ text: 'hello' })
    const { type, body } = decodeCbor(signed.v, 1_000_000) as { type: string; body: unknown }
    expect(Buffer.from(crypto.sha256(encodeCbor({ type, body }))).toString('hex')).toBe(bodyDigest)
  })
})

describe('docs/protocol.md', () => {
  it('shows an inception that is the one of the vectors, with its AID', async () => {
    const page = await readFile(resolve(path, '../protocol.md'), 'utf8')
    const { keyHistory } = (await protocolVectors()) as { keyHistory: { aid: string; inceptionWithoutAid: string } }
    const shown = /```\n([0-9a-f\n]+)```/.exec(page)?.[1]?.replaceAll('\n', '')
    expect(shown).toBe(keyHistory.inceptionWithoutAid)
    expect(page).toContain(`\`${keyHistory.aid}\``)
  })

  it('names every type, route and error that there is', async () => {
    const page = await readFile(resolve(path, '../protocol.md'), 'utf8')
    const names = [...statementTypes, ...messageTypes, ...Object.values(hubPaths), ...hubErrorCodes, authHeader]
    expect(names.filter((name) => !page.includes(`${name}\``))).toEqual([])
  })
})
