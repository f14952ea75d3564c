import { EventEmitter, once } from 'node:events'
import dbus, { type MessageBus } from 'dbus-next'

const { Message, MessageType, Variant } = dbus

export interface TrayItem {
  readonly sender: string
  readonly path: string
}
export interface ShownNotification {
  readonly id: number
  readonly title: string
  readonly body: string
}
export interface MenuEntry {
  readonly id: number
  readonly label: string
  readonly enabled: boolean
}

interface Call {
  readonly interface: string
  readonly member: string
  readonly sender: string
  readonly body: readonly unknown[]
}
type Answer = readonly [signature: string, body: readonly unknown[]]
/** A node of com.canonical.dbusmenu: id, properties, children. */
type Layout = readonly [number, Readonly<Record<string, { value: unknown }>>, readonly { value: Layout }[]]

/**
 * What a desktop offers on the session bus: a tray (org.kde.StatusNotifierWatcher) whose icons and menus can be read
 * and clicked, and a notification server. The application under test talks to it as to any desktop.
 */
export class SessionBus {
  readonly trayItems: TrayItem[] = []
  readonly notifications: ShownNotification[] = []
  readonly #bus: MessageBus
  readonly #events = new EventEmitter()

  private constructor(bus: MessageBus) {
    this.#bus = bus
  }

  static async open({ tray = true, address }: { tray?: boolean; address?: string } = {}): Promise<SessionBus> {
    const bus = dbus.sessionBus(address === undefined ? {} : { busAddress: address })
    const self = new SessionBus(bus)
    // dbus-next has this method, its types do not
    const raw = bus as unknown as { addMethodHandler(handler: (call: Call) => boolean): void }
    raw.addMethodHandler((call) => self.#serve(call))
    await bus.requestName('org.freedesktop.Notifications', 0)
    if (tray) await bus.requestName('org.kde.StatusNotifierWatcher', 0)
    return self
  }

  close(): void {
    this.#bus.disconnect()
  }

  /** The newest tray icon of the application. */
  async trayItem(): Promise<TrayItem> {
    while (this.trayItems.length === 0) await once(this.#events, 'tray')
    return this.trayItems.at(-1) as TrayItem
  }

  /** Waits for a notification that `matches`, shown before or from now on. */
  async notification(matches: (note: ShownNotification) => boolean): Promise<ShownNotification> {
    for (;;) {
      const found = this.notifications.findLast(matches)
      if (found !== undefined) return found
      await once(this.#events, 'notification')
    }
  }

  clickNotification({ id }: ShownNotification): void {
    this.#bus.send(
      Message.newSignal('/org/freedesktop/Notifications', 'org.freedesktop.Notifications', 'ActionInvoked', 'us', [
        id,
        'default',
      ]),
    )
  }

  async menu(item: TrayItem): Promise<readonly MenuEntry[]> {
    const path = await this.#menuPath(item)
    const [, root] = await this.#call(item.sender, path, 'com.canonical.dbusmenu', 'GetLayout', 'iias', [0, -1, []])
    return (root as Layout)[2].map(({ value: [id, properties] }) => ({
      id,
      label: textOf(properties['label']).replaceAll('__', '_'),
      enabled: properties['enabled']?.value !== false,
    }))
  }

  async clickMenu(item: TrayItem, label: string): Promise<void> {
    const entries = await this.menu(item)
    const entry = entries.find((candidate) => candidate.label === label)
    if (entry === undefined)
      throw new Error(`The tray menu has no "${label}", but: ${entries.map((each) => each.label).join(' | ')}`)
    const path = await this.#menuPath(item)
    await this.#call(item.sender, path, 'com.canonical.dbusmenu', 'Event', 'isvu', [
      entry.id,
      'clicked',
      new Variant('s', ''),
      0,
    ])
  }

  async #menuPath(item: TrayItem): Promise<string> {
    const [menu] = await this.#call(item.sender, item.path, 'org.freedesktop.DBus.Properties', 'Get', 'ss', [
      'org.kde.StatusNotifierItem',
      'Menu',
    ])
    return (menu as { value: string }).value
  }

  async #call(
    destination: string,
    path: string,
    iface: string,
    member: string,
    signature: string,
    body: unknown[],
  ): Promise<readonly unknown[]> {
    const reply = await this.#bus.call(
      new Message({ type: MessageType.METHOD_CALL, destination, path, interface: iface, member, signature, body }),
    )
    return reply?.body ?? []
  }

  #serve(call: Call): boolean {
    const answer = this.#answer(call)
    if (answer === undefined) return false
    const [signature, body] = answer
    this.#bus.send(Message.newMethodReturn(call as never, signature, [...body]))
    return true
  }

  #answer({ interface: iface, member, sender, body }: Call): Answer | undefined {
    switch (`${iface}.${member}`) {
      case 'org.kde.StatusNotifierWatcher.RegisterStatusNotifierItem': {
        const [name] = body as [string]
        this.trayItems.push(
          name.startsWith('/') ? { sender, path: name } : { sender: name, path: '/StatusNotifierItem' },
        )
        this.#events.emit('tray')
        return ['', []]
      }
      case 'org.freedesktop.DBus.Properties.Get':
        return this.#watcherProperty(String(body[1]))
      case 'org.freedesktop.Notifications.GetCapabilities':
        return ['as', [['actions', 'body']]]
      case 'org.freedesktop.Notifications.GetServerInformation':
        return ['ssss', ['test desktop', 'anet', '1', '1.2']]
      case 'org.freedesktop.Notifications.Notify': {
        const [, , , title, text] = body as [string, number, string, string, string]
        const id = this.notifications.length + 1
        this.notifications.push({ id, title, body: text })
        this.#events.emit('notification')
        return ['u', [id]]
      }
      case 'org.freedesktop.Notifications.CloseNotification':
        return ['', []]
      default:
        return undefined
    }
  }

  #watcherProperty(name: string): Answer | undefined {
    switch (name) {
      case 'IsStatusNotifierHostRegistered':
        return ['v', [new Variant('b', true)]]
      case 'ProtocolVersion':
        return ['v', [new Variant('i', 0)]]
      case 'RegisteredStatusNotifierItems':
        return [
          'v',
          [
            new Variant(
              'as',
              this.trayItems.map(({ sender, path }) => sender + path),
            ),
          ],
        ]
      default:
        return undefined
    }
  }
}

function textOf(property: { value: unknown } | undefined): string {
  return typeof property?.value === 'string' ? property.value : ''
}
