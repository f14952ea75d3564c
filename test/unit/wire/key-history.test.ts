import { describe, expect, it } from 'vitest'
import {
  compareHistories,
  decodeHistory,
  encodeCbor,
  encodeHistory,
  encodeSigned,
  type KeyHistory,
  limits,
  type Signed,
  signStatement,
  verifyHistory,
} from '@shared/wire/index.ts'
import { cidOf } from '@shared/wire/cid.ts'
import { codeOf, crypto, fixedBytes, KeyHolder, start } from '../../helpers/key-holder.ts'

function refusal(history: KeyHistory, aid?: string): string | undefined {
  return codeOf(() => verifyHistory(crypto, history, aid))
}

function rotated(label: string, times: number): KeyHolder {
  const agent = new KeyHolder(label)
  for (let i = 0; i < times; i += 1) agent.append(agent.rotation())
  return agent
}

describe('a key history', () => {
  it('says which key is in use and which were', () => {
    const agent = rotated('a', 2)
    const history = verifyHistory(crypto, agent.history, agent.aid)
    expect(history.seq).toBe(2)
    expect(history.head).toBe(agent.head)
    expect(history.key).toEqual(crypto.ed25519PublicKey(agent.seed(2)))
    expect([0, 1, 2].map((ksn) => history.keyOf(ksn))).toEqual(
      [0, 1, 2].map((n) => crypto.ed25519PublicKey(agent.seed(n))),
    )
    expect(history.keyOf(3)).toBeUndefined()
    expect(history.next).toEqual(agent.commitment(3))
  })

  it('has an AID of the form that paths take', () => {
    expect(new KeyHolder('a').aid).toMatch(/^bafyrei[a-z2-7]{52}$/)
  })

  it('may be rotated in an emergency without the key before', () => {
    const agent = new KeyHolder('a')
    agent.append(agent.rotation({ emergency: true }))
    expect(verifyHistory(crypto, agent.history).key).toEqual(crypto.ed25519PublicKey(agent.seed(1)))
  })

  it('ends with a deactivation: then no key is in use', () => {
    const agent = rotated('a', 1)
    agent.append(agent.deactivation())
    const history = verifyHistory(crypto, agent.history)
    expect(history.key).toBeNull()
    expect(history.keyOf(2)).toBeUndefined()
    expect(history.keyOf(1)).toBeDefined()
    const revived = agent.rotation({ seq: 3 })
    expect(refusal([...agent.history, revived])).toBe('history_deactivated')
  })

  it('is refused if it is not of the agent that was asked for', () => {
    expect(refusal(new KeyHolder('a').history, new KeyHolder('b').aid)).toBe('history_wrong_agent')
  })

  it('is refused if the AID does not cover the inception', () => {
    const agent = new KeyHolder('a')
    const forged = (change: object): Signed => {
      const core = {
        type: 'inception',
        seq: 0,
        prev: null,
        key: crypto.ed25519PublicKey(agent.seed(0)),
        next: agent.commitment(9),
        at: start,
      }
      return signStatement(crypto, 'key-history', { ...core, aid: agent.aid, ...change }, [agent.key(0)])
    }
    expect(refusal([forged({})])).toBe('history_wrong_aid')
    expect(refusal([forged({ later: 1 })])).toBe('history_wrong_aid')
  })

  it('keeps its AID when the inception has a field of a later version', () => {
    const agent = new KeyHolder('a')
    const core = {
      type: 'inception',
      seq: 0,
      prev: null,
      key: crypto.ed25519PublicKey(agent.seed(0)),
      next: agent.commitment(1),
      at: start,
      later: 'x',
    }
    const aid = cidOf(crypto, encodeCbor(core))
    const statement = signStatement(crypto, 'key-history', { ...core, aid }, [{ ...agent.key(0), aid }])
    expect(verifyHistory(crypto, [statement], aid).aid).toBe(aid)
    const must = { ...core, must: ['later'] }
    const strictAid = cidOf(crypto, encodeCbor(must))
    const strict = signStatement(crypto, 'key-history', { ...must, aid: strictAid }, [
      { ...agent.key(0), aid: strictAid },
    ])
    expect(refusal([strict])).toBe('statement_must_understand')
  })

  it('is refused if a rotation reveals another key than was committed to', () => {
    const agent = new KeyHolder('a')
    const thief = { aid: agent.aid, ksn: 1, privateKey: fixedBytes('thief') }
    const key = crypto.ed25519PublicKey(thief.privateKey)
    expect(refusal([...agent.history, agent.rotation({ key }, [thief, agent.key(0)])])).toBe('history_wrong_commitment')
    expect(refusal([...agent.history, agent.rotation({ key, emergency: true }, [thief])])).toBe(
      'history_wrong_commitment',
    )
  })

  it('is refused if a signature is missing or wrong', () => {
    const agent = new KeyHolder('a')
    const only = (...keys: number[]): KeyHistory => [
      ...agent.history,
      agent.rotation(
        {},
        keys.map((n) => agent.key(n)),
      ),
    ]
    expect(refusal(only(1))).toBe('history_bad_signature')
    expect(refusal(only(0))).toBe('history_bad_signature')
    expect(refusal([{ ...agent.history[0], sigs: new KeyHolder('b').history[0]?.sigs } as Signed])).toBe(
      'history_bad_signature',
    )
    // the old key may not sign an emergency rotation or a deactivation in the place of the new one
    expect(refusal([...agent.history, agent.rotation({ emergency: true }, [agent.key(0)])])).toBe(
      'history_bad_signature',
    )
    expect(refusal([...agent.history, agent.rotation({ type: 'deactivation', next: null }, [agent.key(0)])])).toBe(
      'history_bad_signature',
    )
  })

  it('is refused if its statements do not follow each other', () => {
    const agent = rotated('a', 2)
    const [first, second, third] = agent.history
    if (first === undefined || second === undefined || third === undefined) throw new Error('too short')
    expect(refusal([])).toBe('history_invalid')
    expect(refusal([second, third])).toBe('history_wrong_order')
    expect(refusal([first, third])).toBe('history_wrong_order')
    expect(refusal([first, second, second])).toBe('history_wrong_order')
    expect(refusal([first, first])).toBe('history_wrong_order')
    const other = new KeyHolder('a')
    expect(refusal([first, other.rotation({ prev: third === undefined ? null : agent.head })])).toBe(
      'history_wrong_link',
    )
    expect(refusal([first, other.rotation({ prev: null })])).toBe('history_wrong_order')
    expect(refusal([first, other.rotation({ type: 'inception' })])).toBe('history_wrong_order')
    expect(refusal([first, other.rotation({ aid: new KeyHolder('b').aid })])).toBe('history_wrong_link')
    expect(refusal([first, other.rotation({ next: null })])).toBe('history_wrong_commitment')
    expect(refusal([first, other.rotation({ type: 'deactivation' }, [other.key(1)])])).toBe('history_wrong_commitment')
    expect(refusal([first, other.rotation({ type: 'deactivation', next: null, emergency: true })])).toBe(
      'history_invalid',
    )
  })

  it('keeps the last bytes for an emergency rotation and a deactivation', () => {
    const agent = new KeyHolder('a')
    const size = (): number => agent.history.reduce((sum, signed) => sum + encodeSigned(signed).byteLength, 0)
    while (size() + 700 < limits.history.bytes - limits.history.reservedBytes) agent.append(agent.rotation())
    expect(refusal(agent.history)).toBeUndefined()
    while (size() < limits.history.bytes - limits.history.reservedBytes) agent.append(agent.rotation())
    expect(refusal(agent.history)).toBe('history_reserved_place')
    agent.history = agent.history.slice(0, -1)
    agent.append(agent.rotation({ emergency: true }))
    agent.append(agent.deactivation())
    expect(refusal(agent.history)).toBeUndefined()
    expect(size()).toBeLessThanOrEqual(limits.history.bytes)
  })

  it('keeps the last two places for an emergency rotation and a deactivation', () => {
    const agent = new KeyHolder('a')
    // emergency rotations are the smaller ones: more of them fit into the bytes
    const rotate = (): KeyHolder => agent.append(agent.rotation({ emergency: true, at: 0 }))
    while (agent.history.length < 120) rotate()
    expect(refusal(agent.history)).toBeUndefined()
    expect(refusal(Array<Signed>(257).fill(agent.history[0] as Signed))).toBe('history_too_long')
    while (agent.history.reduce((sum, signed) => sum + encodeSigned(signed).byteLength, 0) <= limits.history.bytes)
      rotate()
    expect(refusal(agent.history)).toBe('history_too_long')
  })

  it('is read back from storage as it was', () => {
    const { history } = rotated('a', 3)
    expect(decodeHistory(encodeHistory(history))).toEqual(history)
    expect(codeOf(() => decodeHistory(new Uint8Array(65 * 1024)))).toBe('history_too_long')
    expect(codeOf(() => decodeHistory(encodeCbor([])))).toBe('statement_malformed')
  })
})

describe('two histories of one agent', () => {
  const agent = rotated('a', 3)
  const short = agent.history.slice(0, 2)
  const branch = (): KeyHistory => {
    const other = new KeyHolder('a')
    other.append(other.rotation())
    return [...other.history, other.rotation({ at: 1 })]
  }

  it('are the same, one extends the other, or they fork', () => {
    expect(compareHistories(crypto, agent.history, agent.history)).toBe('same')
    expect(compareHistories(crypto, short, agent.history)).toBe('extension')
    expect(compareHistories(crypto, agent.history, short)).toBe('older')
    expect(refusal(branch())).toBeUndefined()
    expect(compareHistories(crypto, agent.history, branch())).toBe('fork')
    expect(compareHistories(crypto, branch(), agent.history)).toBe('fork')
  })
})
