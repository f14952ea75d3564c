import { expect, test } from 'vitest'
import { createClient, type InboxItemView, nodeContract, type NodeDoor } from '../../../src-shared/contract/index.ts'
import { createQuit, type QuitOptions } from '../../../src-main/desktop/quitting.ts'
import { aNodeView, aTaskSummary } from '../../helpers/contract-views.ts'

const item = (state: InboxItemView['state']): InboxItemView => ({
  id: 1,
  state,
  task: aTaskSummary,
  seq: 0,
  receivedAt: 1,
  trusted: true,
  message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'Hello' }] },
})

/** A node whose inbox holds items in these states; the list of calls that quitting made. */
function desk(states: readonly InboxItemView['state'][], session: Partial<QuitOptions['session']> = {}) {
  const calls: string[] = []
  const answers: boolean[] = []
  const door: NodeDoor = {
    client: createClient(nodeContract, () =>
      Promise.resolve({ ok: true, value: { items: states.map(item), nextCursor: '', open: states.length } }),
    ),
    subscribe: () => () => {},
  }
  const quit = createQuit({
    session: { attached: false, view: aNodeView, door, ...session },
    confirm: (inFlight) => {
      calls.push(...inFlight)
      return Promise.resolve(answers.shift() ?? false)
    },
    end: () => {
      calls.push('end')
      return Promise.resolve()
    },
  })
  return { calls, answers, quit }
}

test('nothing is asked while nothing can be lost, and quitting happens once', async () => {
  const { calls, quit } = desk(['waiting', 'answered', 'queued'])
  await Promise.all([quit(), quit()])
  expect(calls).toEqual(['end'])
})

test('while a backend works it asks, and may be asked again', async () => {
  const { calls, answers, quit } = desk(['forwarding'])
  const question = 'A backend works on 1 task. What it did is then not known.'
  await quit()
  expect(calls).toEqual([question])
  answers.push(true)
  await quit()
  expect(calls).toEqual([question, question, 'end'])
})

test('a node of another process goes on without the window', async () => {
  const { calls, quit } = desk(['forwarding'], { attached: true })
  await quit()
  expect(calls).toEqual(['end'])
})

test('a node that does not answer, or is not there, keeps nobody from quitting', async () => {
  const failing: NodeDoor = {
    client: createClient(nodeContract, () => Promise.reject(new Error('gone'))),
    subscribe: () => () => {},
  }
  const first = desk([], { door: failing })
  await first.quit()
  expect(first.calls).toEqual(['end'])
  let ended = false
  const session = {
    attached: false,
    view: undefined,
    get door(): NodeDoor {
      throw new Error('There is no node.')
    },
  }
  await createQuit({
    session,
    confirm: () => Promise.resolve(false),
    end: () => {
      ended = true
      return Promise.resolve()
    },
  })()
  expect(ended).toBe(true)
})
