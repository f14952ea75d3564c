import type { NodeView, ShellView } from '@shared/contract/index.ts'

export type TrayIcon = 'up' | 'attention' | 'conflict' | 'not-joined'

export type TrayAction = 'copy-a2a-address' | 'copy-agents-url' | 'inbox' | 'open' | 'settings' | 'view-logs' | 'quit'

export type TrayEntry =
  | { readonly kind: 'separator' }
  | { readonly kind: 'status'; readonly label: string }
  | { readonly kind: 'action'; readonly action: TrayAction; readonly label: string; readonly enabled: boolean }

export interface TrayModel {
  readonly icon: TrayIcon
  readonly tooltip: string
  readonly menu: readonly TrayEntry[]
}

/**
 * What the tray shows, from the shell's and the node's state (spec/desktop.md, Tray). A native menu has no colours and
 * an icon 22 pixels: the status line carries the state in words.
 */
export function trayModel(shell: ShellView, node: NodeView | undefined): TrayModel {
  const status = statusOf(shell, node)
  const listening = node?.endpoint.state === 'up'
  const unavailable = listening ? '' : ` (${whyNotListening(node)})`
  const inbox = node?.counts.inbox ?? 0
  return {
    icon: status.icon,
    tooltip: `ANet: ${status.line}`,
    menu: [
      { kind: 'status', label: status.line },
      { kind: 'separator' },
      action('copy-a2a-address', `Copy A2A address${unavailable}`, listening),
      action('copy-agents-url', `Copy agents URL${unavailable}`, listening),
      { kind: 'separator' },
      action('inbox', inbox === 0 ? 'Inbox…' : `Inbox (${inbox})…`, node !== undefined),
      action('open', 'Open ANet', true),
      { kind: 'separator' },
      action('settings', 'Settings…', node !== undefined),
      action('view-logs', 'View logs', true),
      { kind: 'separator' },
      action('quit', 'Quit ANet', true),
    ],
  }
}

function action(name: TrayAction, label: string, enabled: boolean): TrayEntry {
  return { kind: 'action', action: name, label, enabled }
}

function statusOf(shell: ShellView, node: NodeView | undefined): { icon: TrayIcon; line: string } {
  if (node === undefined) {
    const lines = {
      setup: 'Not set up yet',
      unlock: 'Waiting for the passphrase',
      starting: 'Starting',
      running: 'Starting',
      failed: 'The node did not start',
      stopped: 'The node is stopped',
    }
    return {
      icon: shell.phase === 'failed' || shell.phase === 'unlock' ? 'attention' : 'not-joined',
      line: lines[shell.phase],
    }
  }
  const conflict = node.endpoint.conflict
  if (conflict !== null) {
    const port = conflict.address.slice(conflict.address.lastIndexOf(':') + 1)
    return { icon: 'conflict', line: `Port ${port} is held by ${conflict.holder.command ?? 'another program'}` }
  }
  if (!node.join.registered || node.join.hub === null) return { icon: 'not-joined', line: node.join.sentence }
  if (node.counts.inbox > 0) {
    return {
      icon: 'attention',
      line:
        node.counts.inbox === 1 ? '1 message waits in the inbox' : `${node.counts.inbox} messages wait in the inbox`,
    }
  }
  if (node.join.state !== 'joined') return { icon: 'not-joined', line: node.join.sentence }
  return { icon: 'up', line: `Up, joined to ${node.join.hub.name}` }
}

function whyNotListening(node: NodeView | undefined): string {
  if (node === undefined) return 'node not running'
  return node.endpoint.state === 'port_conflict' ? 'port taken' : 'not listening'
}
