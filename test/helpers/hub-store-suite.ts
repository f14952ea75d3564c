import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { HubStore, ListPage, ListPosition, ListQuery, MemberWrite } from '../../src-hub/store/index.ts'
import { seenStep } from '../../src-hub/store/index.ts'
import { unknownAid } from './hub-agent.ts'

const box = { messages: 10, bytes: 10_000 }
const batch = { limit: 100, bytes: 1_000_000, since: 0 }
const now = 1_700_000_000_000
let nonces = 0

function nonce(time = now): { time: number; nonce: Uint8Array } {
  nonces += 1
  return { time, nonce: Uint8Array.from({ length: 16 }, (_, at) => (at < 4 ? (nonces >> (8 * at)) & 0xff : 1)) }
}

function write(aid: string, change: Partial<MemberWrite> = {}): MemberWrite {
  return {
    aid,
    state: 'member',
    ksn: 0,
    key: new Uint8Array(32).fill(1),
    history: [Uint8Array.of(1), Uint8Array.of(2)],
    keyset: { seq: 1, bytes: Uint8Array.of(3) },
    card: { kind: 'card', seq: 1, bytes: Uint8Array.of(4), exp: now + 1e9, ksn: 0 },
    index: { skills: [], tags: [], text: 'agent' },
    ...change,
  }
}

/** What every implementation of {@link HubStore} has to hold. `reopen` ends the process, as it were, and begins anew. */
export function hubStoreSuite(
  name: string,
  open: () => Promise<{ store: HubStore; reopen: () => Promise<HubStore> }>,
): void {
  describe(`the hub's store (${name})`, () => {
    let store: HubStore
    let reopen: () => Promise<HubStore>

    beforeEach(async () => {
      const opened = await open()
      store = opened.store
      reopen = async () => {
        store = await opened.reopen()
        return store
      }
    })
    afterEach(() => store.close())

    const join = async (change: Partial<MemberWrite> = {}, at = now): Promise<string> => {
      const aid = change.aid ?? unknownAid()
      expect(await store.saveMember(write(aid, change), { expected: undefined, at })).toBe('saved')
      return aid
    }
    const append = async (to: string, change: Partial<Parameters<HubStore['appendMail']>[0]> = {}) => {
      const ids: number[] = []
      const envelope = Uint8Array.of(1, 2, 3)
      const mail = { to, at: now, size: 3, content: { envelope }, nonce: nonce(), box, ...change }
      const result = await store.appendMail({ onStored: (id) => ids.push(id), ...mail })
      return { result, id: ids[0] ?? -1 }
    }
    const list = (query: Partial<ListQuery> = {}): Promise<ListPage> =>
      store.listAgents({ now, limit: 100, bytes: 1_000_000, ...query })
    const aids = async (query: Partial<ListQuery> = {}) => (await list(query)).agents.map((agent) => agent.aid)

    describe('members', () => {
      it('come back as they were written, also after a restart', async () => {
        const aid = await join()
        await reopen()
        const { index: _index, ...stored } = write(aid)
        expect(await store.member(aid)).toEqual({ ...stored, version: 1, joinedAt: now, lastSeen: now })
        expect(await store.memberKey(aid)).toMatchObject({ aid, state: 'member', ksn: 0 })
        expect(await store.member(unknownAid())).toBeUndefined()
        expect(await store.memberKey(unknownAid())).toBeUndefined()
      })

      it('are not overwritten by who read an older state', async () => {
        const aid = await join()
        const version = (await store.member(aid))?.version
        expect(await store.saveMember(write(aid), { expected: undefined, at: now })).toBe('conflict')
        expect(await store.saveMember(write(aid, { ksn: 1 }), { expected: version, at: now })).toBe('saved')
        expect(await store.saveMember(write(aid, { ksn: 2 }), { expected: version, at: now })).toBe('conflict')
        expect((await store.memberKey(aid))?.ksn).toBe(1)
      })

      it('use an invite once, before it expires, and together with the join', async () => {
        await store.addInvite({ hash: 'h', createdAt: now, expiresAt: now + 10 })
        const use = (at: number) => store.saveMember(write(unknownAid()), { expected: undefined, at, invite: 'h' })
        expect(await use(now + 10)).toBe('invite_invalid')
        const aid = await join()
        const late = await store.saveMember(write(aid), { expected: undefined, at: now, invite: 'h' })
        expect(late).toBe('conflict')
        expect((await Promise.all([use(now), use(now)])).toSorted()).toEqual(['invite_invalid', 'saved'])
        expect(await store.count('member')).toBe(2)
      })

      it('are listed for the operator by AID and state', async () => {
        const all = [await join(), await join(), await join({ state: 'waiting' })].toSorted()
        expect((await store.listMembers({ limit: 10 })).map((member) => member.aid)).toEqual(all)
        const after = { ...(all[0] === undefined ? {} : { after: all[0] }), limit: 1 }
        expect((await store.listMembers(after)).map((member) => member.aid)).toEqual([all[1]])
        expect(await store.listMembers({ state: 'waiting', limit: 10 })).toHaveLength(1)
        expect(await store.totals()).toMatchObject({ members: 2, waiting: 1, removed: 0 })
      })

      it('leave with their mail and their place in the directory', async () => {
        const aid = await join()
        const { id } = await append(aid)
        expect(await store.removeMember(aid)).toEqual([id])
        expect(await store.mailAfter(aid, 0, batch)).toEqual([])
        expect(await aids()).toEqual([])
        expect((await append(aid)).result).toBe('unknown_agent')
        expect(await store.totals()).toMatchObject({ members: 0, removed: 1, messages: 0, bytes: 0 })
        expect(await store.setState(aid, 'member')).toBe(true)
        expect(await aids()).toEqual([aid])
        expect(await store.removeMember(unknownAid())).toBeUndefined()
        expect(await store.setState(unknownAid(), 'member')).toBe(false)
      })

      it('leave the proof of a contradiction, once each and not without end', async () => {
        const aid = await join()
        const fork = { aid, kind: 'card', seq: 3, at: now, known: Uint8Array.of(1), other: Uint8Array.of(2) } as const
        await store.addFork(fork)
        await store.addFork(fork)
        expect(await store.listForks(10)).toMatchObject([fork])
        for (let seq = 4; seq < 60; seq += 1) await store.addFork({ ...fork, seq })
        expect((await store.totals()).forks).toBeLessThan(30)
      })
    })

    describe('the directory', () => {
      it('lists the last seen first, then by AID', async () => {
        const early = await join({}, now - 1000)
        const late = [await join(), await join(), await join()].toSorted()
        expect(await aids()).toEqual([...late, early])
      })

      it('leaves out who has no card in force', async () => {
        const aid = await join()
        await join({ card: undefined, index: undefined })
        await join({ card: { kind: 'card', seq: 1, bytes: Uint8Array.of(4), exp: now, ksn: 0 } })
        await join({ card: { kind: 'withdrawal', seq: 1, bytes: Uint8Array.of(4) } })
        await join({ ksn: 1 })
        await join({ key: null })
        await join({ state: 'waiting' })
        expect(await aids()).toEqual([aid])
      })

      it('finds by skill, tag and words, and by all of them together', async () => {
        const rain = await join({ index: { skills: ['forecast'], tags: ['rain'], text: 'Regenwetter in Köln' } })
        const sun = await join({ index: { skills: ['forecast'], tags: ['sun', 'Rain'], text: 'sunny Koeln AND rain' } })
        const both = [rain, sun].toSorted()
        expect(await aids({ skill: 'forecast' })).toEqual(both)
        expect(await aids({ skill: 'fore' })).toEqual([])
        expect(await aids({ tag: 'rain' })).toEqual([rain])
        expect(await aids({ words: ['regen'] })).toEqual([rain])
        expect(await aids({ words: ['KOLN'] })).toEqual([rain])
        expect(await aids({ words: ['and'] })).toEqual([sun])
        expect(await aids({ words: ['ko'] })).toEqual(both)
        expect(await aids({ words: ['ko', 'sun'] })).toEqual([sun])
        expect(await aids({ words: ['"'] })).toEqual([])
        expect(await aids({ skill: 'forecast', tag: 'sun', words: ['rain'] })).toEqual([sun])
        expect(await aids({ skill: 'forecast', tag: 'moon' })).toEqual([])
      })

      it('forgets the words of a card that was replaced', async () => {
        const aid = await join({ index: { skills: ['old'], tags: ['old'], text: 'old' } })
        const version = (await store.member(aid))?.version
        const change = write(aid, { index: { skills: ['new'], tags: [], text: 'new' } })
        expect(await store.saveMember(change, { expected: version, at: now })).toBe('saved')
        expect(await aids({ skill: 'old' })).toEqual([])
        expect(await aids({ tag: 'old' })).toEqual([])
        expect(await aids({ words: ['old'] })).toEqual([])
        expect(await aids({ skill: 'new', words: ['new'] })).toEqual([aid])
      })

      it('pages through all, though agents move to the front meanwhile', async () => {
        const all: string[] = []
        for (let at = 0; at < 60; at += 1) all.push(await join({}, now - seenStep - (at % 7) * 1000))
        for (const filter of [{}, { words: ['agent'] }]) {
          const seen: string[] = []
          let after: ListPosition | undefined
          let pages = 0
          do {
            const page = await list({ ...filter, limit: 7, now, ...(after === undefined ? {} : { after }) })
            seen.push(...page.agents.map((agent) => agent.aid))
            after = page.next
            pages += 1
            // those at the end of the listing show up, and so do some that came already
            for (const aid of [all[59 - pages], all[pages]]) await store.touch(aid ?? '', now + pages)
          } while (after !== undefined)
          expect(seen.toSorted()).toEqual(all.toSorted())
          expect(new Set(seen).size).toBe(60)
        }
      })

      it('ends a page early rather than hold too much, but never without an agent', async () => {
        for (let at = 0; at < 5; at += 1) {
          await join({ card: { kind: 'card', seq: 1, bytes: new Uint8Array(1000), exp: now + 1, ksn: 0 } })
        }
        const first = await list({ bytes: 2500 })
        expect(first.agents).toHaveLength(2)
        if (first.next === undefined) throw new Error('no next page')
        const second = await list({ bytes: 10, after: first.next })
        expect(second.agents).toHaveLength(1)
        expect(first.agents.map((agent) => agent.aid)).not.toContain(second.agents[0]?.aid)
      })

      it('finds the same whether a word is rare or everywhere', async () => {
        const joins: Promise<string>[] = []
        for (let at = 0; at < 4200; at += 1) {
          const tags = at % 600 === 0 ? ['common', 'rare'] : ['common']
          const text = at % 600 === 0 ? 'common rare' : 'common'
          joins.push(join({ index: { skills: [], tags, text } }, now - at))
        }
        const all = await Promise.all(joins)
        const rare = all.filter((_, at) => at % 600 === 0)
        for (const filter of [{ tag: 'common' }, { words: ['comm'] }]) {
          expect(await aids({ ...filter, limit: 50 })).toEqual(all.slice(0, 50))
          const page = await list({ ...filter, limit: 50 })
          expect(await aids({ ...filter, limit: 50, ...(page.next && { after: page.next }) })).toEqual(
            all.slice(50, 100),
          )
        }
        expect(await aids({ tag: 'common', words: ['rare'] })).toEqual(rare)
        expect(await aids({ tag: 'rare', words: ['common'] })).toEqual(rare)
      })
    })

    describe('nonces', () => {
      it('are used once, also after a restart', async () => {
        const one = nonce()
        expect(await store.useNonce(one)).toBe(true)
        expect(await store.useNonce(one)).toBe(false)
        await reopen()
        expect(await store.useNonce(one)).toBe(false)
        expect(await store.useNonce({ ...one, time: now + 1 })).toBe(true)
      })

      it('leave a floor when they are forgotten, also after a restart', async () => {
        await store.useNonce(nonce(now))
        await store.useNonce(nonce(now + 500))
        expect(store.nonceFloor()).toBe(0)
        await store.sweep({ mail: 0, nonces: now + 100, invites: 0 })
        expect(store.nonceFloor()).toBe(now)
        // a clock that is years ahead does not lock the agents out for years
        await store.sweep({ mail: 0, nonces: now + 1e12, invites: 0 })
        expect(store.nonceFloor()).toBe(now + 500)
        await reopen()
        expect(store.nonceFloor()).toBe(now + 500)
      })
    })

    describe('mail', () => {
      it('stays in order until it is deleted by its owner, also after a restart', async () => {
        const aid = await join()
        const other = await join()
        const ids = [(await append(aid)).id, (await append(aid)).id, (await append(aid)).id]
        await append(other)
        expect(ids).toEqual(ids.toSorted((a, b) => a - b))
        expect(await store.deleteMail(other, ids)).toEqual([])
        await reopen()
        const mail = await store.mailAfter(aid, 0, batch)
        expect(mail.map((one) => one.id)).toEqual(ids)
        expect([...(mail[0]?.envelope ?? [])]).toEqual([1, 2, 3])
        expect(await store.deleteMail(aid, [...ids.slice(0, 2), 999])).toEqual(ids.slice(0, 2))
        expect((await store.mailAfter(aid, 0, batch)).map((one) => one.id)).toEqual(ids.slice(2))
        expect(await store.mailAfter(aid, ids[2] ?? 0, batch)).toEqual([])
        expect(await store.totals()).toMatchObject({ messages: 2, bytes: 6 })
      })

      it('never gives an id twice, so that a late acknowledgement deletes nothing new', async () => {
        const aid = await join()
        const { id } = await append(aid)
        await store.deleteMail(aid, [id])
        await reopen()
        expect((await append(aid)).id).toBeGreaterThan(id)
      })

      it('is refused when the box is full, and only then', async () => {
        const aid = await join()
        for (let at = 0; at < box.messages - 1; at += 1)
          expect((await append(aid, { size: 100 })).result).toBe('stored')
        expect((await append(aid, { size: box.bytes - 899 })).result).toBe('full')
        const last = await append(aid, { size: box.bytes - 900 })
        expect(last.result).toBe('stored')
        expect((await append(aid)).result).toBe('full')
        await store.deleteMail(aid, [last.id])
        expect((await append(aid)).result).toBe('stored')
      })

      it('uses up the nonce of its request with the message, and not without it', async () => {
        const aid = await join()
        const one = nonce()
        expect((await append(aid, { nonce: one })).result).toBe('stored')
        expect((await append(aid, { nonce: one })).result).toBe('replayed')
        expect(await store.useNonce(one)).toBe(false)
        expect(await store.mailAfter(aid, 0, batch)).toHaveLength(1)
      })

      it('tells of each message in order and once it is durable', async () => {
        const aid = await join()
        const told: number[] = []
        const appends = Array.from({ length: 8 }, () => append(aid, { onStored: (id: number) => told.push(id) }))
        await Promise.all(appends)
        expect(told).toEqual((await store.mailAfter(aid, 0, batch)).map((one) => one.id))
      })

      it('comes in batches of so many bytes, but of one message at least', async () => {
        const aid = await join()
        for (let at = 0; at < 3; at += 1) {
          await append(aid, { content: { envelope: new Uint8Array(1000) }, size: 1000 })
        }
        expect(await store.mailAfter(aid, 0, { ...batch, bytes: 2500 })).toHaveLength(2)
        expect(await store.mailAfter(aid, 0, { ...batch, bytes: 10 })).toHaveLength(1)
        expect(await store.mailAfter(aid, 0, { ...batch, limit: 1 })).toHaveLength(1)
      })

      it('is not delivered after its time, and goes with the sweep', async () => {
        const aid = await join()
        const old = await append(aid, { at: now - 100 })
        const fresh = await append(aid, { at: now })
        const mail = await store.mailAfter(aid, 0, { ...batch, since: now - 100 })
        expect(mail.map((one) => one.id)).toEqual([fresh.id])
        expect(await store.sweep({ mail: now - 100, nonces: 0, invites: 0 })).toEqual([old.id])
        expect(await store.totals()).toMatchObject({ messages: 1, bytes: 3 })
      })

      it('keeps large envelopes apart, and deletes them with their message', async () => {
        const aid = await join()
        const blob = await store.createBlob()
        await blob.write(new Uint8Array(300_000).fill(1))
        await blob.write(new Uint8Array(5).fill(2))
        const name = await blob.commit()
        const { id } = await append(aid, { content: { blob: name }, size: 300_005, box: { messages: 10, bytes: 1e6 } })
        await reopen()
        expect(await store.mailAfter(aid, 0, batch)).toEqual([{ id, size: 300_005, blob: name, envelope: undefined }])
        const pieces: Uint8Array[] = []
        for await (const piece of store.readBlob(name)) pieces.push(piece)
        const whole = Buffer.concat(pieces)
        expect(whole.byteLength).toBe(300_005)
        expect([whole[0], whole[299_999], whole[300_000]]).toEqual([1, 1, 2])
        await store.deleteMail(aid, [id])
        await expect(store.readBlob(name)[Symbol.asyncIterator]().next()).rejects.toThrow()
      })

      it('forgets large envelopes that no message came to refer to', async () => {
        const lost = await store.createBlob()
        await lost.write(Uint8Array.of(1))
        const name = await lost.commit()
        const given = await store.createBlob()
        await given.write(Uint8Array.of(1))
        await given.discard()
        await given.discard()
        await reopen()
        await expect(store.readBlob(name)[Symbol.asyncIterator]().next()).rejects.toThrow()
      })

      it('refuses what comes after its end', async () => {
        const aid = await join()
        await store.check()
        await store.close()
        await expect(append(aid)).rejects.toThrow()
        await reopen()
      })
    })
  })
}
