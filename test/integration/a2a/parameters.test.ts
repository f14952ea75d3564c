import { describe, expect, test } from 'vitest'
import { hello, at, rest, rpcError } from '../../helpers/endpoint-calls.ts'
import { endpointDesk } from '../../helpers/endpoint-desk.ts'

describe('parameters', () => {
  const withPart = (part: unknown) => ({ message: { ...hello.message, parts: [part] } })
  test.each([
    ['no message', {}, 'message'],
    ['no parts', { message: { role: 'ROLE_USER', messageId: 'm' } }, 'message.parts'],
    ['empty parts', { message: { role: 'ROLE_USER', messageId: 'm', parts: [] } }, 'message.parts'],
    ['no role', { message: { messageId: 'm', parts: [{ text: 'x' }] } }, 'message.role'],
    ['an unknown role', { message: { ...hello.message, role: 'user' } }, 'message.role'],
    ['the role of an agent', { message: { ...hello.message, role: 'ROLE_AGENT' } }, 'message.role'],
    ['no messageId', { message: { role: 'ROLE_USER', parts: [{ text: 'x' }] } }, 'message.messageId'],
    ['a part with nothing', withPart({}), 'message.parts[0]'],
    ['a part with two contents', withPart({ text: 'x', data: 1 }), 'message.parts[0]'],
    ['a part of the old form', withPart({ kind: 'text' }), 'message.parts[0]'],
    ['a text that is a number', withPart({ text: 5 }), 'message.parts[0].text'],
    ['raw that is no base64', withPart({ raw: '***' }), 'message.parts[0].raw'],
    ['a negative historyLength', { ...hello, configuration: { historyLength: -1 } }, 'configuration.historyLength'],
    ['metadata that is a list', { ...hello, metadata: [] }, 'metadata'],
    [
      'data that nests too deep',
      withPart({ data: JSON.parse('['.repeat(200) + ']'.repeat(200)) }),
      'message.parts[0].data',
    ],
  ])('%s is told by its path', async (_name, params, field) => {
    const desk = await endpointDesk()
    const error = await rpcError(await desk.rpc('SendMessage', params))
    expect(error.code).toBe(-32602)
    expect(error.data).toContainEqual({
      '@type': 'type.googleapis.com/google.rpc.BadRequest',
      fieldViolations: expect.arrayContaining([expect.objectContaining({ field })]),
    })
    const viaRest = await rest(desk, 'message:send', { body: params })
    expect(viaRest.status).toBe(400)
    expect((await viaRest.json()).error).toMatchObject({ status: 'INVALID_ARGUMENT', details: error.data })
    expect(desk.tasks.list({ limit: 1 }).total).toBe(0)
  })

  test('snake_case names are understood, but not inside metadata and data; unknown fields are ignored', async () => {
    const desk = await endpointDesk()
    const answer = await desk.rpc('SendMessage', {
      message: {
        role: 'ROLE_USER',
        message_id: 'm-snake',
        context_id: 'c-snake',
        parts: [
          { data: { message_id: 1 }, media_type: 'application/json', surprise: true },
          { raw: '-_8', filename: 'a.bin' },
        ],
        metadata: { context_id: 'kept' },
        reference_task_ids: null,
        colour: 'blue',
      },
      configuration: { return_immediately: true, history_length: '5' },
      future: {},
    })
    const { task } = (await answer.json()).result
    expect(task.contextId).toBe('c-snake')
    expect(task.history).toEqual([
      expect.objectContaining({
        messageId: 'm-snake',
        parts: [
          { data: { message_id: 1 }, mediaType: 'application/json' },
          { raw: '+/8=', filename: 'a.bin' },
        ],
        metadata: { context_id: 'kept' },
      }),
    ])
    expect(task.history[0]).not.toHaveProperty('colour')
  })

  test('data null is a value', async () => {
    const desk = await endpointDesk()
    const answer = await desk.rpc('SendMessage', { ...withPart({ data: null }), configuration: at })
    expect((await answer.json()).result.task.history[0].parts).toEqual([{ data: null }])
  })
})
