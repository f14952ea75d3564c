/** An AID with its middle left out: first 11 … last 5. */
export function shortAid(aid: string): string {
  return aid.length <= 17 ? aid : `${aid.slice(0, 11)}…${aid.slice(-5)}`
}

/** "418 B", "3.2 KB", "41.8 MB": decimal units, as file managers show them. */
export function byteSize(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB']
  let value = bytes
  let unit = 0
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000
    unit += 1
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : 1
  return `${value.toFixed(digits)} ${units[unit] ?? ''}`
}

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** "just now", "8 s ago", "2 min ago", "3 h ago", "yesterday", "4 days ago", then the date. Milliseconds since 1970. */
export function relativeTime(at: number, now: number): string {
  const age = now - at
  if (age < 5000) return 'just now'
  if (age < minute) return `${Math.floor(age / 1000)} s ago`
  if (age < hour) return `${Math.floor(age / minute)} min ago`
  if (age < day) return `${Math.floor(age / hour)} h ago`
  if (age < 2 * day) return 'yesterday'
  if (age < 14 * day) return `${Math.floor(age / day)} days ago`
  return dateOf(at)
}

/** "14 Oct 2026", local time. */
export function dateOf(at: number): string {
  const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
  const date = new Date(at)
  return `${date.getDate()} ${months[date.getMonth()] ?? ''} ${date.getFullYear()}`
}

/** "14:05", and with seconds "14:05:31", local time. */
export function clockTime(at: number, seconds = false): string {
  const date = new Date(at)
  const parts = [date.getHours(), date.getMinutes(), ...(seconds ? [date.getSeconds()] : [])]
  return parts.map((part) => String(part).padStart(2, '0')).join(':')
}

/** "3 min", "2 h", "3 days": how long something has been so. */
export function durationWords(ms: number): string {
  if (ms < minute) return 'less than a minute'
  if (ms < hour) return `${Math.floor(ms / minute)} min`
  if (ms < day) return `${Math.floor(ms / hour)} h`
  const days = Math.floor(ms / day)
  return days === 1 ? '1 day' : `${days} days`
}
