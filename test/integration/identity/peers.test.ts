import { describe, expect, it } from 'vitest'
import { decodeHistory, encodeHistory, encodeSigned, signStatement } from '@shared/wire/index.ts'
import { crypto } from '../../../src-main/node/crypto.ts'
import {
  createPeers,
  identityMigrations,
  type Peer,
  type PeerNews,
  type Peers,
} from '../../../src-main/node/identity/index.ts'
import type { Store } from '../../../src-main/node/store/index.ts'
import { cardOf, day, encryptionPair, KeyHolder, start } from '../../helpers/key-holder.ts'
import { silentLog, type SteeredClock, steeredClock, temporaryStore } from '../../helpers/temporary-store.ts'

interface Setting {
  readonly store: Store
  readonly clock: SteeredClock
  readonly peers: Peers
  learn(agent: KeyHolder | string, news: PeerNews, source?: 'message' | 'lookup'): Promise<Peer>
  /** Peers over the same database, as after a restart. */
  restarted(): Peers
}

async function setting(): Promise<Setting> {
  const clock = steeredClock(start)
  const store = await temporaryStore({ migrations: identityMigrations, clock })
  const peers = createPeers({ store, crypto, clock, log: silentLog })
  return {
    store,
    clock,
    peers,
    learn: (agent, news, source = 'message') => {
      const aid = typeof agent === 'string' ? agent : agent.aid
      return store.write((tx) => peers.learn(tx, aid, news, source, clock.now()))
    },
    restarted: () => createPeers({ store, crypto, clock, log: silentLog }),
  }
}

/** Resolves when everything that was queued before is stored. */
async function written(store: Store): Promise<void> {
  await store.write(() => undefined)
}

/** The same agent with a rotation, and with another one in its place. */
function branches(): readonly [KeyHolder, KeyHolder] {
  const [one, other] = [new KeyHolder('a'), new KeyHolder('a')]
  return [one.append(one.rotation()), other.append(other.rotation({ at: 1 }))]
}

describe('what is learned of a peer', () => {
  it('is there after a restart, verified again', async () => {
    const { learn, peers, restarted } = await setting()
    const agent = new KeyHolder('a')
    expect(peers.get(agent.aid)).toBeUndefined()
    await learn(agent, { history: agent.history, keyset: agent.keySet(5), card: agent.card(6) })
    for (const view of [peers, restarted()]) {
      const peer = view.get(agent.aid)
      expect(peer?.history.head).toBe(agent.head)
      expect(peer?.card?.card.name).toBe('a')
      expect(peer?.cardBytes).toEqual(encodeSigned(agent.card(6)))
      expect(peer).toMatchObject({ aid: agent.aid, keyState: 'stale', forked: false })
      expect(view.encryptionKey(agent.aid, start)?.kid).toBe(encryptionPair('a').key.kid)
      expect(view.encryptionKey(agent.aid, start + 14 * day)).toBeUndefined()
    }
  })

  it('must be of the agent that was expected', async () => {
    const { learn, peers } = await setting()
    const [agent, other] = [new KeyHolder('a'), new KeyHolder('b')]
    await expect(learn(agent, { history: other.history })).rejects.toMatchObject({ code: 'history_wrong_agent' })
    await expect(learn(agent, { history: agent.history, keyset: other.keySet(1) })).rejects.toMatchObject({
      code: 'statement_wrong_author',
    })
    await expect(learn(agent, { history: agent.history, card: other.card(1) }, 'lookup')).rejects.toMatchObject({
      code: 'statement_wrong_author',
    })
    expect(peers.get(agent.aid)).toBeUndefined()
  })

  it('is refused if a signature is wrong, and nothing of it stays', async () => {
    const { learn, peers } = await setting()
    const agent = new KeyHolder('a')
    const forged = { ...agent.keySet(9), sigs: agent.keySet(8).sigs }
    await expect(learn(agent, { history: agent.history, keyset: forged })).rejects.toMatchObject({
      code: 'statement_bad_signature',
    })
    expect(peers.get(agent.aid)).toBeUndefined()
  })

  it('is not known if the transaction was rolled back', async () => {
    const { store, peers, learn } = await setting()
    const agent = new KeyHolder('a')
    const failed = store.write((tx) => {
      peers.learn(tx, agent.aid, { history: agent.history, keyset: agent.keySet(5) }, 'message', start)
      // later steps of the same transaction see it
      expect(peers.get(agent.aid)?.history.head).toBe(agent.head)
      throw new Error('rolled back')
    })
    await expect(failed).rejects.toThrow('rolled back')
    expect(peers.get(agent.aid)).toBeUndefined()
    await learn(agent, { history: agent.history, keyset: agent.keySet(4) })
    expect(peers.encryptionKey(agent.aid, start)).toBeDefined()
  })

  it('is damage of the database if it does not verify any more', async () => {
    const { store, learn, restarted } = await setting()
    const [agent, other] = [new KeyHolder('a'), new KeyHolder('b')]
    await learn(agent, { history: agent.history })
    await store.write((tx) => {
      tx.run('UPDATE peer_agents SET history = ?, revision = 1', encodeHistory(other.history))
    })
    expect(() => restarted().get(agent.aid)).toThrow('does not verify')
  })

  it('is found for many agents at once; unknown ones are absent', async () => {
    const { learn, peers, restarted } = await setting()
    const agents = ['a', 'b', 'c'].map((label) => new KeyHolder(label))
    for (const agent of agents.slice(0, 2)) await learn(agent, { history: agent.history })
    const aids = agents.map(({ aid }) => aid)
    for (const view of [peers, restarted()]) {
      expect([...view.many(aids).keys()].toSorted()).toEqual(aids.slice(0, 2).toSorted())
    }
    expect(peers.many([]).size).toBe(0)
  })
})

describe('a peer’s history', () => {
  it('grows; a shorter one is old in a message and a rollback at a hub', async () => {
    const { learn, peers } = await setting()
    const agent = new KeyHolder('a')
    const before = { history: agent.history, keyset: agent.keySet(1) }
    await learn(agent, before)
    agent.append(agent.rotation())
    await learn(agent, { history: agent.history, keyset: agent.keySet(2) })
    expect(peers.get(agent.aid)?.history.seq).toBe(1)
    expect((await learn(agent, before)).history.seq).toBe(1)
    await expect(learn(agent, before, 'lookup')).rejects.toMatchObject({ code: 'rollback' })
  })

  it('decides which key may sign a message: the newest, from the moment it is known', async () => {
    const { learn, peers } = await setting()
    const agent = new KeyHolder('a')
    const message = (n: number) => signStatement(crypto, 'message', { text: 'x' }, [agent.key(n)])
    expect(peers.verifyMessage(message(0), agent.aid)).toBe(false)
    await learn(agent, { history: agent.history })
    expect(peers.verifyMessage(message(0), agent.aid)).toBe(true)
    expect(peers.verifyMessage(signStatement(crypto, 'receipt', {}, [agent.key(0)]), agent.aid)).toBe(false)
    agent.append(agent.rotation())
    await learn(agent, { history: agent.history })
    expect(peers.verifyMessage(message(0), agent.aid)).toBe(false)
    expect(peers.verifyMessage(message(1), agent.aid)).toBe(true)
    agent.append(agent.deactivation())
    await learn(agent, { history: agent.history })
    expect(peers.verifyMessage(message(1), agent.aid)).toBe(false)
    expect(peers.verifyMessage(message(2), agent.aid)).toBe(false)
  })

  it('that ends with a deactivation leaves no key to seal to', async () => {
    const { learn, peers } = await setting()
    const agent = new KeyHolder('a')
    await learn(agent, { history: agent.history, keyset: agent.keySet(1) })
    agent.append(agent.deactivation())
    const peer = await learn(agent, { history: agent.history })
    expect(peer.history.key).toBeNull()
    expect(peers.encryptionKey(agent.aid, start)).toBeUndefined()
  })

  it('that forks puts the peer in quarantine and is kept as proof', async () => {
    const { store, learn, peers, restarted, clock } = await setting()
    const [agent, other] = branches()
    await learn(agent, { history: agent.history, keyset: agent.keySet(1) })
    clock.time += 5
    await expect(learn(agent, { history: other.history })).rejects.toMatchObject({ code: 'fork' })
    expect(peers.get(agent.aid)?.forked).toBe(true)
    // the caller's transaction was rolled back; the proof has one of its own
    await written(store)
    for (const view of [peers, restarted()]) {
      expect(view.get(agent.aid)).toMatchObject({ forked: true, history: { head: agent.head } })
      expect(view.encryptionKey(agent.aid, start)).toBeUndefined()
      const [fork] = view.forks(agent.aid)
      expect(fork).toMatchObject({ kind: 'history', seq: 1, at: start + 5 })
      expect(decodeHistory(fork?.known ?? new Uint8Array())).toEqual(agent.history)
      expect(decodeHistory(fork?.other ?? new Uint8Array())).toEqual(other.history)
    }
    // from then on nothing of it is believed
    agent.append(agent.rotation())
    const peer = await learn(agent, { history: agent.history, keyset: agent.keySet(9) }, 'lookup')
    expect([peer.forked, peer.history.seq]).toEqual([true, 1])
    expect(peers.verifyMessage(signStatement(crypto, 'message', {}, [agent.key(1)]), agent.aid)).toBe(false)
  })

  it('that forks is kept as proof in the transaction of a caller that goes on', async () => {
    const { store, peers, learn } = await setting()
    const [agent, other] = branches()
    await learn(agent, { history: agent.history })
    await store.write((tx) => {
      expect(() => peers.learn(tx, agent.aid, { history: other.history }, 'message', start)).toThrow('contradict')
      expect(peers.get(agent.aid)?.forked).toBe(true)
      expect(tx.all('SELECT kind FROM peer_forks')).toEqual([{ kind: 'history' }])
    })
    await written(store)
    expect(peers.forks(agent.aid)).toHaveLength(1)
  })

  it('is no fork if the other one is not valid: nobody can frame a peer', async () => {
    const { learn, peers } = await setting()
    const [agent] = branches()
    await learn(agent, { history: agent.history })
    const thief = new KeyHolder('a')
    const forged = [...thief.history, thief.rotation({ at: 2 }, [thief.key(0)])]
    await expect(learn(agent, { history: forged })).rejects.toMatchObject({ code: 'history_bad_signature' })
    expect(peers.get(agent.aid)?.forked).toBe(false)
  })
})

describe('the high-water rule for key set and card', () => {
  it('takes a higher seq, ignores a lower one in a message and calls it a rollback at a hub', async () => {
    const { learn, peers } = await setting()
    const agent = new KeyHolder('a')
    const { history } = agent
    const key = (label: string) => [encryptionPair(label).key]
    const kid = () => peers.encryptionKey(agent.aid, start)?.kid
    await learn(agent, { history, keyset: agent.keySet(5, key('five')), card: agent.card(5) })
    await learn(agent, { history, keyset: agent.keySet(4, key('four')), card: agent.card(4) })
    expect(kid()).toBe(encryptionPair('five').key.kid)
    await expect(learn(agent, { history, keyset: agent.keySet(4) }, 'lookup')).rejects.toMatchObject({
      code: 'rollback',
    })
    await expect(learn(agent, { history, card: agent.card(4) }, 'lookup')).rejects.toMatchObject({ code: 'rollback' })
    await learn(agent, { history, keyset: agent.keySet(6, key('six')) }, 'lookup')
    expect(kid()).toBe(encryptionPair('six').key.kid)
    // the very same again is no news
    await learn(agent, { history, keyset: agent.keySet(6, key('six')), card: agent.card(5) }, 'lookup')
    expect(peers.get(agent.aid)?.card?.network.seq).toBe(5)
  })

  it.each(['key-set', 'card'] as const)('calls two of one seq a fork: %s', async (kind) => {
    const { store, learn, peers } = await setting()
    const agent = new KeyHolder('a')
    const { history } = agent
    const news = (label: string): PeerNews =>
      kind === 'card'
        ? { history, card: agent.card(5, {}, cardOf(label)) }
        : { history, keyset: agent.keySet(5, [encryptionPair(label).key]) }
    await learn(agent, news('one'))
    await expect(learn(agent, news('two'), 'lookup')).rejects.toMatchObject({ code: 'fork' })
    expect(peers.get(agent.aid)?.forked).toBe(true)
    await written(store)
    expect(peers.forks(agent.aid)).toMatchObject([{ kind, seq: 5 }])
  })

  it('begins anew with each signing key: a thief’s high seq binds nobody after the rotation', async () => {
    const { learn, peers } = await setting()
    const agent = new KeyHolder('a')
    const highest = Number.MAX_SAFE_INTEGER
    await learn(agent, {
      history: agent.history,
      keyset: agent.keySet(highest, [encryptionPair('thief').key]),
      card: agent.card(highest),
    })
    agent.append(agent.rotation({ emergency: true }))
    const own = agent.keySet(7, [encryptionPair('owner').key])
    await learn(agent, { history: agent.history, keyset: own, card: agent.card(7) }, 'lookup')
    expect(peers.encryptionKey(agent.aid, start)?.kid).toBe(encryptionPair('owner').key.kid)
    expect(peers.get(agent.aid)?.card?.network.seq).toBe(7)
  })
})

describe('a peer’s card', () => {
  it('is none once it has expired', async () => {
    const { learn, peers, clock } = await setting()
    const agent = new KeyHolder('a')
    await learn(agent, { history: agent.history, card: agent.card(1) })
    clock.time = start + 30 * day
    expect(peers.get(agent.aid)).toMatchObject({ card: undefined, cardBytes: undefined })
    await expect(learn(agent, { history: agent.history, card: agent.card(2) }, 'lookup')).rejects.toMatchObject({
      code: 'card_expired',
    })
  })

  it('is none once it was withdrawn, and does not come back', async () => {
    const { learn, peers, restarted } = await setting()
    const agent = new KeyHolder('a')
    const { history } = agent
    await learn(agent, { history, card: agent.card(1) })
    await learn(agent, { history, withdrawal: agent.withdrawal(2) }, 'lookup')
    for (const view of [peers, restarted()]) expect(view.get(agent.aid)?.card).toBeUndefined()
    await expect(learn(agent, { history, card: agent.card(1) }, 'lookup')).rejects.toMatchObject({ code: 'rollback' })
    await learn(agent, { history, card: agent.card(3) }, 'lookup')
    expect(peers.get(agent.aid)?.card?.network.seq).toBe(3)
  })

  it('and its withdrawal cannot stand for each other', async () => {
    const { learn } = await setting()
    const agent = new KeyHolder('a')
    const { history } = agent
    await expect(learn(agent, { history, card: agent.withdrawal(1) })).rejects.toMatchObject({
      code: 'statement_wrong_type',
    })
    await expect(learn(agent, { history, withdrawal: agent.card(1) })).rejects.toMatchObject({
      code: 'statement_wrong_type',
    })
  })
})
