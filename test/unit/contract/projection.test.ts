import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  type Call,
  command,
  createClient,
  handle,
  localClient,
  nodeContract,
  query,
} from '../../../src-shared/contract/index.ts'
import { AnetError } from '../../../src-shared/errors.ts'

const contract = {
  notes: {
    read: query(z.strictObject({ id: z.int(), most: z.int().default(3) }), z.object({ text: z.string() })),
    write: command(z.strictObject({ text: z.string().max(10) }), z.object({ id: z.number() })),
  },
} as const

const handlers = {
  notes: {
    read: ({ id, most }: { id: number; most: number }) => {
      if (id === 404)
        throw new AnetError('no_such_note', 'There is no such note.', { remedy: 'Write it.', details: { id } })
      if (id === 500) throw new Error('token=secret in /home/somebody')
      return { text: `note ${id}, ${most} lines` }
    },
    write: async () => ({ id: 1 }),
  },
}

/** What a call would look like after crossing a wire. */
const overTheWire: Call = async (method, input) =>
  JSON.parse(JSON.stringify(await handle(contract, handlers, method, JSON.parse(JSON.stringify(input))))) as unknown

describe('a contract seen through a door', () => {
  const client = createClient(contract, overTheWire)

  it('carries input, defaults and output', async () => {
    expect(await client.notes.read({ id: 7 })).toEqual({ text: 'note 7, 3 lines' })
    expect(await client.notes.write({ text: 'hello' })).toEqual({ id: 1 })
  })

  it('throws the error of the other side with its code, remedy and details', async () => {
    const error: unknown = await client.notes.read({ id: 404 }).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(AnetError)
    expect(error).toMatchObject({
      code: 'no_such_note',
      message: 'There is no such note.',
      remedy: 'Write it.',
      details: { id: 404 },
    })
  })

  it('says nothing of an unexpected error but that it happened, and hands it to the log', async () => {
    const logged: unknown[] = []
    const result = await handle(contract, handlers, 'notes.read', { id: 500 }, (error) => logged.push(error))
    expect(result).toMatchObject({ ok: false, error: { code: 'internal' } })
    expect(JSON.stringify(result)).not.toContain('secret')
    expect(logged).toHaveLength(1)
  })

  it.each([
    ['another type', { id: 'seven' }, 'id'],
    ['an unknown key', { id: 1, extra: true }, ''],
    ['nothing', undefined, ''],
  ])('names the field of an invalid input: %s', async (_, input, field) => {
    const result = await handle(contract, handlers, 'notes.read', input)
    expect(result).toMatchObject({
      ok: false,
      error: { code: 'invalid_input', details: { fields: [{ field }] } },
    })
  })

  it.each(['notes', 'notes.erase', 'notes.read.more', 'notes.constructor', '__proto__.toString', 'toString.call', ''])(
    'has no operation "%s"',
    async (method) => {
      expect(await handle(contract, handlers, method, {})).toMatchObject({
        ok: false,
        error: { code: 'unknown_method' },
      })
    },
  )

  it.each([
    ['no envelope', 'hello'],
    ['an envelope with an output of another form', { ok: true, value: { text: 3 } }],
    ['an error without a code', { ok: false, error: {} }],
  ])('refuses %s', async (_, answer) => {
    const odd = createClient(contract, async () => answer)
    await expect(odd.notes.read({ id: 1 })).rejects.toMatchObject({ code: 'bad_answer' })
  })
})

describe('a contract in the process of its implementation', () => {
  it('parses inputs like any door', async () => {
    const client = localClient(contract, handlers)
    expect(await client.notes.read({ id: 1, most: 9 })).toEqual({ text: 'note 1, 9 lines' })
    await expect(client.notes.write({ text: 'far too long a text' })).rejects.toMatchObject({ code: 'invalid_input' })
    await expect(client.notes.read({ id: 500 })).rejects.toThrow('token=secret')
  })

  it('can stand behind another door', async () => {
    const inner = localClient(contract, handlers)
    expect(await handle(contract, inner, 'notes.read', { id: 2 })).toEqual({
      ok: true,
      value: { text: 'note 2, 3 lines' },
    })
  })
})

describe('the node contract', () => {
  it('accepts only whole AIDs, bounded texts and absolute sizes', () => {
    const send = nodeContract.tasks.send.input
    expect(send.safeParse({ agent: 'bafyrei', text: 'hi' }).success).toBe(true)
    expect(send.safeParse({ agent: '../etc', text: 'hi' }).success).toBe(false)
    expect(send.safeParse({ agent: 'bafyrei', text: 'x'.repeat(1_000_001) }).success).toBe(false)
    expect(send.safeParse({ agent: 'bafyrei', text: '' }).success).toBe(false)
    expect(nodeContract.tasks.list.input.safeParse({ limit: 201 }).success).toBe(false)
  })
})
