import { expect, test } from 'vitest'
import type { NodeView, ShellView } from '../../../src-shared/contract/index.ts'
import { type TrayEntry, trayModel } from '../../../src-main/desktop/tray-model.ts'
import { aNodeView } from '../../helpers/contract-views.ts'

const shell: ShellView = {
  phase: 'running',
  error: null,
  version: '0.1.0',
  dataDir: '/home/somebody/.anet',
  attached: false,
  theme: 'system',
  demo: { state: 'absent', dataDir: '/home/somebody/.anet/demo', error: null },
}
const joined: NodeView = {
  ...aNodeView,
  join: {
    state: 'joined',
    registered: true,
    sentence: 'Joined the hub Home.',
    hub: { url: 'http://127.0.0.1:1', aid: 'b', name: 'Home' },
    since: 1,
  },
}
const conflicted: NodeView = {
  ...joined,
  endpoint: {
    ...joined.endpoint,
    state: 'port_conflict',
    conflict: {
      address: '127.0.0.1:43811',
      since: 1,
      holder: { pid: 7, command: 'python3', user: 'somebody', otherUser: false, thisNode: false },
      remedy: ['End it.'],
    },
  },
}
const entry = (node: NodeView | undefined, label: RegExp): TrayEntry | undefined =>
  trayModel(shell, node).menu.find((each) => 'label' in each && label.test(each.label))

test('a node that is up and joined: the status line names the hub, copying is on', () => {
  const model = trayModel(shell, joined)
  expect(model.icon).toBe('up')
  expect(model.menu[0]).toEqual({ kind: 'status', label: 'Up, joined to Home' })
  expect(entry(joined, /^Copy A2A address$/)).toMatchObject({ enabled: true })
  expect(model.tooltip).toBe('ANet: Up, joined to Home')
})

test('a conflict wins over everything else and turns copying off with the reason', () => {
  const model = trayModel(shell, { ...conflicted, counts: { ...joined.counts, inbox: 3 } })
  expect(model.icon).toBe('conflict')
  expect(model.menu[0]).toEqual({ kind: 'status', label: 'Port 43811 is held by python3' })
  expect(entry(conflicted, /^Copy A2A address \(port taken\)$/)).toMatchObject({ enabled: false })
})

test('a holder that nobody can name is another program', () => {
  const { conflict } = conflicted.endpoint
  const holder = { pid: null, command: null, user: null, otherUser: true, thisNode: false }
  const unnamed: NodeView = {
    ...conflicted,
    endpoint: { ...conflicted.endpoint, conflict: conflict === null ? null : { ...conflict, holder } },
  }
  expect(trayModel(shell, unnamed).menu[0]).toMatchObject({ label: 'Port 43811 is held by another program' })
})

test('what waits in the inbox is counted', () => {
  const waiting: NodeView = { ...joined, counts: { ...joined.counts, inbox: 2 } }
  expect(trayModel(shell, waiting)).toMatchObject({
    icon: 'attention',
    menu: expect.arrayContaining([{ kind: 'action', action: 'inbox', label: 'Inbox (2)…', enabled: true }]) as unknown,
  })
})

test('a node without a hub says so', () => {
  expect(trayModel(shell, aNodeView)).toMatchObject({ icon: 'not-joined' })
  expect(trayModel(shell, aNodeView).menu[0]).toEqual({ kind: 'status', label: 'This node has not joined a hub.' })
})

test('without a node the state of the window is shown, and nothing of the node can be opened', () => {
  const lines: Record<ShellView['phase'], string> = {
    setup: 'Not set up yet',
    unlock: 'Waiting for the passphrase',
    starting: 'Starting',
    running: 'Starting',
    failed: 'The node did not start',
    stopped: 'The node is stopped',
  }
  for (const [phase, label] of Object.entries(lines)) {
    const { menu } = trayModel({ ...shell, phase: phase as ShellView['phase'] }, undefined)
    expect(menu[0]).toEqual({ kind: 'status', label })
    const enabled = menu.flatMap((each) => (each.kind === 'action' && each.enabled ? [each.action] : []))
    expect(enabled).toEqual(['open', 'view-logs', 'quit'])
  }
})
