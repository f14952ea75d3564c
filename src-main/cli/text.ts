/**
 * Text for a terminal. What other agents wrote is shown inert: control characters, which move cursors and recolour
 * screens, and bidirectional controls, which reorder what is read, appear escaped (spec/desktop.md, Behaviour).
 */

// C0 without line feed and tab, DEL, C1, and the bidirectional and invisible formatting characters
const unsafe =
  // oxlint-disable-next-line no-control-regex -- these are the characters to show
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g
const surrogates = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Several lines of somebody's text; line feeds and tabs stay. */
export function inert(text: string): string {
  return text.replace(unsafe, escaped).replace(surrogates, escaped)
}

/** The same for one line: line feeds and tabs are escaped as well. */
export function inertLine(text: string): string {
  return inert(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t')
}

/** JSON that is safe to print: still the same value for a parser. */
export function inertJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(unsafe, escaped).replace(surrogates, escaped)
}

/** `bafyreib7xk…q4m2ze`: enough to recognise; the whole with --wide. */
export function shortAid(aid: string, wide = false): string {
  return wide || aid.length <= 20 ? aid : `${aid.slice(0, 12)}…${aid.slice(-6)}`
}

/** At most `width` characters of one line. */
export function clipped(text: string, width: number): string {
  const line = inertLine(text)
  return line.length <= width ? line : `${line.slice(0, width - 1)}…`
}

/** Rows under their headings, columns aligned. Cells are made inert here. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [headings, ...rows.map((row) => row.map(inertLine))]
  const widths = headings.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)))
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** `name   value` lines with the values aligned. */
export function fields(entries: readonly (readonly [string, string])[]): string {
  const width = Math.max(...entries.map(([name]) => name.length))
  return entries.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join('\n')
}

/** Local time to the second, as people write it in logs. */
export function when(time: number): string {
  const date = new Date(time)
  const two = (value: number): string => String(value).padStart(2, '0')
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}

/** `WORKING` for `TASK_STATE_WORKING`, in the words people use. */
export function stateWord(state: string): string {
  return state.replace('TASK_STATE_', '').toLowerCase().replaceAll('_', '-')
}

export function byteCount(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB']
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit += 1
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`
}
