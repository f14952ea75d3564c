/**
 * The text of a number that is a member of the outermost object of a valid JSON text, as it was written; of members with
 * the same name the last, as JSON.parse takes it. Undefined if there is none.
 */
export function numberAsSent(json: string, member: string): string | undefined {
  const token = /"(?:[^"\\]|\\.)*"|[{}[\]:]|-?\d[\d.eE+-]*|true|false|null/gs
  let depth = 0
  let key: string | undefined
  let isValue = false
  let found: string | undefined
  for (let match = token.exec(json); match !== null; match = token.exec(json)) {
    const [text] = match
    const first = text[0]
    if (first === '{' || first === '[') depth += 1
    else if (first === '}' || first === ']') depth -= 1
    else if (depth === 1) {
      if (first === ':') {
        isValue = true
        continue
      }
      if (isValue && key === member && first !== '"') found = text
      if (!isValue && first === '"') key = JSON.parse(text)
    }
    isValue = false
  }
  return found
}
