import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { maxDepth, messageSchema, normaliseProtoJson, parseRequest, requestShapes } from '@shared/a2a/index.ts'
import { numberAsSent } from '../../../src-main/node/modules/a2a/rpc-id.ts'

const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

describe('ProtoJSON input', () => {
  test('both spellings of every field mean the same, and the camelCase one wins', () => {
    const message = {
      messageId: 'm',
      contextId: 'c',
      taskId: 't',
      role: 'ROLE_USER',
      parts: [{ text: 'x', mediaType: 'y' }],
      referenceTaskIds: ['r'],
    }
    const spelled = Object.fromEntries(
      Object.entries({ ...message, parts: [{ text: 'x', media_type: 'y' }] }).map(([name, value]) => [
        snake(name),
        value,
      ]),
    )
    expect(normaliseProtoJson({ message: spelled }, requestShapes.sendMessage)).toEqual({ message })
    expect(normaliseProtoJson({ page_size: 5, pageSize: 7 }, requestShapes.listTasks)).toEqual({ pageSize: 7 })
  })

  test('metadata and data are left as they are', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })),
        fc.jsonValue({ maxDepth: 4 }),
        (metadata, data) => {
          const request = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ data }], metadata }, metadata }
          expect(normaliseProtoJson(request, requestShapes.sendMessage)).toEqual(request)
        },
      ),
      { numRuns: 200 },
    )
  })

  test('a value may nest 100 levels', () => {
    const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)])
    const request = (depth: number) => ({
      message: { messageId: 'm', role: 'ROLE_USER', parts: [{ data: nested(depth) }] },
    })
    expect(parseRequest('sendMessage', request(maxDepth)).ok).toBe(true)
    expect(parseRequest('sendMessage', request(maxDepth + 1))).toMatchObject({
      ok: false,
      violations: [{ field: 'message.parts[0].data' }],
    })
  })

  test('bytes may be base64url and without padding', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        const standard = Buffer.from(bytes).toString('base64')
        for (const raw of [standard, Buffer.from(bytes).toString('base64url')]) {
          const parsed = parseRequest('sendMessage', {
            message: { messageId: 'm', role: 'ROLE_USER', parts: [{ raw }] },
          })
          expect(parsed.ok && parsed.value.message.parts[0]?.raw).toBe(standard)
        }
      }),
      { numRuns: 200 },
    )
  })

  test('whatever comes, it is parsed or refused by field, never thrown', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        for (const name of ['sendMessage', 'getTask', 'listTasks', 'cancelTask', 'subscribeToTask'] as const) {
          const parsed = parseRequest(name, value)
          if (!parsed.ok) expect(parsed.violations.length).toBeGreaterThan(0)
        }
      }),
      { numRuns: 500 },
    )
  })

  test('a message of an enormous file part is parsed', () => {
    const raw = 'A'.repeat(8 * 1024 * 1024)
    const parsed = parseRequest('sendMessage', { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ raw }] } })
    expect(parsed.ok && messageSchema.safeParse(parsed.value.message).success).toBe(true)
  })
})

describe('numbers as they were sent', () => {
  test.each([
    ['{"id":12345678901234567890}', '12345678901234567890'],
    ['{"a":{"id":1},"id" : 2e400 ,"b":[{"id":3}]}', '2e400'],
    ['{"x":"\\"id\\":5","id":6}', '6'],
    ['{"id":1,"id":2}', '2'],
    ['{"i\\u0064":7}', '7'],
    ['{"params":{"id":1}}', undefined],
    ['{"id":"text"}', undefined],
    [String.raw`{"a":"\\","b\"":"id","id":-0}`, '-0'],
  ])('%s', (json, expected) => {
    expect(numberAsSent(json, 'id')).toBe(expected)
  })

  test('are found behind a text of many megabytes', () => {
    const long = String.raw`\n`.repeat(16 * 1024 * 1024)
    expect(numberAsSent(`{"${'n'.repeat(1024 * 1024)}":1,"text":"${long}","id":1.5}`, 'id')).toBe('1.5')
  })

  test('agree with JSON.parse for every object', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue()),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        (rest, id) => {
          const sent = numberAsSent(JSON.stringify({ ...rest, id }), 'id')
          expect(Number(sent)).toBe(JSON.parse(JSON.stringify(id)))
        },
      ),
      { numRuns: 300 },
    )
  })
})
