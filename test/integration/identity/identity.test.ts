import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  encodeCbor,
  encryptionKeyAt,
  readKeySet,
  readNetworkCard,
  verifyCardWithdrawal,
  verifyHistory,
  verifyKeySet,
  verifyNetworkCard,
} from '@shared/wire/index.ts'
import { crypto } from '../../../src-main/node/crypto.ts'
import {
  createKeyMaterial,
  type Identity,
  identityMigrations,
  openIdentity,
} from '../../../src-main/node/identity/index.ts'
import { createSecrets, openSecrets, type Secrets } from '../../../src-main/node/secrets/index.ts'
import type { Store } from '../../../src-main/node/store/index.ts'
import { cardOf, day, fixedBytes, start } from '../../helpers/key-holder.ts'
import { temporaryFolder } from '../../helpers/temporary-folder.ts'
import { silentLog, type SteeredClock, steeredClock, temporaryStore } from '../../helpers/temporary-store.ts'

interface Node {
  readonly dataDir: string
  readonly store: Store
  readonly clock: SteeredClock
  readonly secrets: Secrets
  readonly identity: Identity
}

async function newNode(): Promise<Node> {
  const dataDir = await temporaryFolder()
  const clock = steeredClock(start)
  const seed = fixedBytes('recovery')
  const { aid, keys } = createKeyMaterial(crypto, seed, start)
  await createSecrets({ dataDir, kind: 'file', aid, keys, seed })
  const store = await temporaryStore({ migrations: identityMigrations, clock })
  return { dataDir, store, clock, ...(await reopened(dataDir, store, clock)) }
}

async function reopened(dataDir: string, store: Store, clock: SteeredClock) {
  const secrets = await openSecrets({ dataDir })
  return { secrets, identity: await openIdentity({ secrets, store, crypto, clock, log: silentLog }) }
}

const json = new TextEncoder().encode(JSON.stringify(cardOf('me')))

describe('the own identity', () => {
  it('signs what its history proves', async () => {
    const { identity } = await newNode()
    const history = verifyHistory(crypto, identity.history, identity.aid)
    expect([identity.ksn, identity.head]).toEqual([history.seq, history.head])
    expect(verifyKeySet(crypto, identity.keySet(), history).keys).toHaveLength(1)
    const data = fixedBytes('jws')
    expect(crypto.ed25519Verify(identity.publicKey, data, identity.signRaw(data))).toBe(true)
    expect(identity.sign('receipt', { a: 1 }).sigs[0]).toMatchObject({ by: identity.aid, ksn: 0 })
  })

  it('opens what was sealed to any key it published, for 15 days after the key’s end', async () => {
    const { identity, clock } = await newNode()
    const kid = readKeySet(identity.keySet()).keys[0]?.kid ?? ''
    expect(identity.encryptionPrivateKey(kid)?.byteLength).toBe(32)
    expect(identity.encryptionPrivateKey('0000000000000000')).toBeUndefined()
    clock.time = start + 29 * day - 1
    expect(await identity.rotateEncryptionKeys(clock.time)).toBe(true)
    expect(identity.encryptionPrivateKey(kid)).toBeDefined()
    clock.time += 1
    expect(identity.encryptionPrivateKey(kid)).toBeUndefined()
    expect(await identity.rotateEncryptionKeys(clock.time)).toBe(true)
    expect(readKeySet(identity.keySet()).keys.map((key) => key.kid)).not.toContain(kid)
  })

  it('has a new encryption key on the disk before the set that names it is handed out', async () => {
    const { identity, dataDir, store, clock } = await newNode()
    const before = readKeySet(identity.keySet())
    expect(await identity.rotateEncryptionKeys(start + 7 * day - 1)).toBe(false)
    clock.time = start + 7 * day
    expect(await Promise.all([1, 2].map(() => identity.rotateEncryptionKeys(clock.time)))).toEqual([true, false])
    const set = readKeySet(identity.keySet())
    expect(set.seq).toBeGreaterThan(before.seq)
    const newest = encryptionKeyAt(set, clock.time)?.kid ?? ''
    expect(newest).not.toBe(before.keys[0]?.kid)
    const { identity: again } = await reopened(dataDir, store, clock)
    expect(again.keySet()).toEqual(identity.keySet())
    expect(again.encryptionPrivateKey(newest)).toEqual(identity.encryptionPrivateKey(newest))
  })

  it('goes on with its old keys if new ones cannot be stored', async () => {
    const { identity, dataDir, clock } = await newNode()
    const before = identity.keySet()
    const keys = join(dataDir, 'keys', 'keys.sealed')
    // a directory in the place of the file stops even a superuser
    const { rename, mkdir, rmdir } = await import('node:fs/promises')
    await rename(keys, `${keys}.away`)
    await mkdir(keys)
    clock.time = start + 8 * day
    await expect(identity.rotateEncryptionKeys(clock.time)).rejects.toThrow()
    expect(identity.keySet()).toBe(before)
    await rmdir(keys)
    await rename(`${keys}.away`, keys)
    await chmod(keys, 0o600)
    expect(await identity.rotateEncryptionKeys(clock.time)).toBe(true)
  })

  it('brings its keys up to date when it is opened after a long time', async () => {
    const { dataDir, store, clock } = await newNode()
    clock.time = start + 100 * day
    const { identity } = await reopened(dataDir, store, clock)
    const set = readKeySet(identity.keySet())
    expect(set.keys).toHaveLength(1)
    expect(encryptionKeyAt(set, clock.time)).toBeDefined()
  })

  it('never lowers the seq of its key set, whatever the clock says', async () => {
    const { identity, clock } = await newNode()
    const seqs = [readKeySet(identity.keySet()).seq]
    for (const now of [start + 300 * day, start + 10 * day, start + 20 * day]) {
      clock.time = now
      await identity.rotateEncryptionKeys(now)
      const set = readKeySet(identity.keySet())
      expect(encryptionKeyAt(set, now)).toBeDefined()
      seqs.push(set.seq)
    }
    expect(seqs).toEqual([start, start + 300 * day, start + 300 * day + 1, start + 300 * day + 2])
  })

  it('numbers its card and the withdrawal in one series', async () => {
    const { identity, store, clock, dataDir } = await newNode()
    const history = verifyHistory(crypto, identity.history)
    const cards = await store.write((tx) => [identity.signCard(tx, json, start), identity.signCard(tx, json, start)])
    const seqs = cards.map((card) => verifyNetworkCard(crypto, card, history, start).network)
    expect(seqs.map(({ seq }) => seq)).toEqual([start, start + 1])
    expect(seqs[0]?.exp).toBe(start + 30 * day)
    const withdrawal = await store.write((tx) => identity.withdrawCard(tx, start - day))
    expect(verifyCardWithdrawal(crypto, withdrawal, history).seq).toBe(start + 2)
    const { identity: again } = await reopened(dataDir, store, clock)
    const next = await store.write((tx) => again.signCard(tx, json, start))
    expect(readNetworkCard(next).network.seq).toBe(start + 3)
  })

  it('gives a number back if the transaction ends without effect', async () => {
    const { identity, store } = await newNode()
    const failed = store.write((tx) => {
      identity.signCard(tx, json, start)
      throw new Error('no card after all')
    })
    await expect(failed).rejects.toThrow('no card after all')
    const card = await store.write((tx) => identity.signCard(tx, json, start))
    expect(readNetworkCard(card).network.seq).toBe(start)
  })

  it('is not opened from keys that do not fit each other', async () => {
    const { dataDir, store, clock, secrets } = await newNode()
    const other = createKeyMaterial(crypto, fixedBytes('x'), start)
    for (const keys of [other.keys, encodeCbor({}), encodeCbor(null), new Uint8Array(5)]) {
      await secrets.replaceKeys(keys)
      await expect(reopened(dataDir, store, clock)).rejects.toMatchObject({ code: 'key_file_damaged' })
    }
  })
})
