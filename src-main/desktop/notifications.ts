import { Notification } from 'electron'
import type { Destination, NodeEvent } from '@shared/contract/index.ts'
import { type Note, NotificationModel } from './notification-model.ts'

const maxBodyLength = 200
/** At most this many in a minute; what is over is in the window anyway. */
const perMinute = 6

export interface NotifierOptions {
  /** True while the window is in front: it shows the news itself. */
  readonly watching: () => boolean
  readonly open: (destination: Destination) => void
}

export interface Notifier {
  handle(event: NodeEvent): void
  show(note: Note): void
}

/** Shows notes; a click opens the entry. Nothing is ever decided in a notification. */
export function createNotifier(options: NotifierOptions): Notifier {
  const model = new NotificationModel()
  // kept, so that a click arrives after the garbage collector has been here
  const shown = new Map<string, Notification>()
  let recent: number[] = []

  const show = (note: Note): void => {
    if (!Notification.isSupported()) return
    const now = Date.now()
    recent = recent.filter((at) => at > now - 60_000)
    if (recent.length >= perMinute) return
    recent.push(now)
    shown.get(note.key)?.close()
    const notification = new Notification({
      title: visible(note.title),
      body: visible(note.body).slice(0, maxBodyLength),
    })
    notification.on('click', () => options.open(note.destination))
    notification.on('close', () => {
      if (shown.get(note.key) === notification) shown.delete(note.key)
    })
    shown.set(note.key, notification)
    notification.show()
  }

  return {
    show,
    handle: (event) => {
      const notes = model.next(event)
      if (!options.watching()) for (const note of notes) show(note)
    },
  }
}

/** Names and texts of agents: control and direction characters are dropped, markup of the notification server is inert. */
function visible(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ')
    .replaceAll('<', '‹')
    .replaceAll('>', '›')
    .replaceAll('&', '＆')
}
