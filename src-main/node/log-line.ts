const colours: Readonly<Record<string, string>> = { debug: '2', info: '36', warn: '33', error: '31' }

/** A JSON line of the log as people read it: `12:03:04 info  the node runs aid=… kind=headless`. */
export function humanLine(json: string, colour: boolean): string {
  const { time, level, msg, err, ...fields } = JSON.parse(json) as Record<string, unknown>
  const label = text(level).padEnd(5)
  const shownLevel = colour ? `\u001b[${colours[text(level)] ?? '0'}m${label}\u001b[0m` : label
  const told = Object.entries(fields).filter(([name]) => name !== 'pid')
  const rest = told.map(([name, value]) => ` ${name}=${text(value)}`).join('')
  return `${timeOf(time)} ${shownLevel} ${printable(text(msg) + rest)}\n${stackOf(err)}`
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

function timeOf(time: unknown): string {
  return new Date(text(time)).toTimeString().slice(0, 8)
}

function stackOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('stack' in error)) return ''
  const lines = text(error.stack).split('\n')
  return `${lines.map((line) => `  ${printable(line)}`).join('\n')}\n`
}

/** A peer's words in a field must not steer the terminal or its direction of writing. */
function printable(words: string): string {
  return words.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\uFFFD')
}
