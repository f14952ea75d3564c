/** Longer ones are not looked at: every character of a member's name may take six. */
const maxKeyChars = 1024

/**
 * The text of a number that is a member of the outermost object of a valid JSON text, as it was written; of members with
 * the same name the last, as JSON.parse takes it. Undefined if there is none.
 */
export function numberAsSent(json: string, member: string): string | undefined {
  const token = /"|[{}[\]:]|-?\d[\d.eE+-]*|true|false|null/g
  let depth = 0
  let key: string | undefined
  let isValue = false
  let found: string | undefined
  for (let match = token.exec(json); match !== null; match = token.exec(json)) {
    const [text] = match
    const first = text[0]
    const begin = match.index
    // a regular expression for a whole string runs out of stack on a long one
    if (first === '"') token.lastIndex = endOfString(json, begin)
    if (first === '{' || first === '[') depth += 1
    else if (first === '}' || first === ']') depth -= 1
    else if (depth === 1) {
      if (first === ':') {
        isValue = true
        continue
      }
      if (isValue && key === member && first !== '"') found = text
      if (!isValue && first === '"') key = keyIn(json, begin, token.lastIndex)
    }
    isValue = false
  }
  return found
}

/** Where a string of a valid text that begins at `begin` has ended. */
function endOfString(json: string, begin: number): number {
  let from = begin + 1
  for (;;) {
    const end = json.indexOf('"', from)
    let slashes = 0
    while (json[end - 1 - slashes] === '\\') slashes += 1
    from = end + 1
    if (slashes % 2 === 0) return from
  }
}

/** A string of the text, unless it is longer than any name that matters, whatever is escaped. */
function keyIn(json: string, begin: number, end: number): string | undefined {
  return end - begin > maxKeyChars ? undefined : (JSON.parse(json.slice(begin, end)) as string)
}
