import { findNodeAtLocation, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import { AnetError } from '@shared/errors.ts'

export type JsonPath = readonly (string | number)[]

/** The text of config.json with its value, and where everything stands. */
export interface ConfigText {
  readonly text: string
  readonly value: unknown
  /** Line (from 1) of a key, or of a value without one; the nearest enclosing line if it is not there. */
  lineOf(path: JsonPath): number
}

const reasons: Readonly<Record<string, string>> = {
  InvalidSymbol: 'this word is no value: text stands in double quotes',
  InvalidNumberFormat: 'this number is not well formed',
  PropertyNameExpected: 'a key in double quotes is expected here (no comma after the last entry)',
  ValueExpected: 'a value is expected here (no comma after the last entry)',
  ColonExpected: 'a colon is missing after the key',
  CommaExpected: 'a comma is missing before this',
  CloseBraceExpected: 'a closing brace "}" is missing',
  CloseBracketExpected: 'a closing bracket "]" is missing',
  EndOfFileExpected: 'nothing may follow here',
  InvalidCommentToken: 'JSON has no comments',
  UnexpectedEndOfComment: 'JSON has no comments',
  UnexpectedEndOfString: 'this text has no closing quote',
  UnexpectedEndOfNumber: 'this number is not well formed',
  InvalidUnicode: 'a \\u escape has four hexadecimal digits',
  InvalidEscapeCharacter: 'a backslash in a text is written twice',
  InvalidCharacter: 'a control character must be escaped',
}

/** Parses strict JSON in UTF-8, a byte order mark allowed. Error: `config_invalid`, with line and column. */
export function parseConfigText(bytes: Uint8Array, path: string): ConfigText {
  const text = decode(bytes, path)
  if (text.trim() === '') throw syntaxError(text, path, 0, 'the file is empty: an empty configuration is {}')
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { disallowComments: true, allowTrailingComma: false })
  const first = errors.toSorted((a, b) => a.offset - b.offset)[0]
  if (root === undefined || first !== undefined) {
    const reason = first && reasons[printParseErrorCode(first.error)]
    throw syntaxError(text, path, first?.offset ?? 0, reason ?? 'this is not JSON')
  }
  const twice = duplicateKey(root)
  if (twice !== undefined) throw syntaxError(text, path, twice.offset, `the key ${keyOf(twice)} is there twice`)
  return { text, value: JSON.parse(text), lineOf: (at) => lineAt(text, nearestNode(root, at).offset).line }
}

function decode(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new AnetError('config_invalid', `${path} is not UTF-8 text.`, {
      remedy: 'Save it as UTF-8. Nothing was overwritten.',
      cause,
    })
  }
}

function syntaxError(text: string, path: string, offset: number, reason: string): AnetError {
  const { line, column } = lineAt(text, offset)
  return new AnetError('config_invalid', `${path}, line ${line}, column ${column}: ${reason}.`, {
    remedy: 'Correct this line and start again. Nothing was overwritten.',
    details: { path, line, column },
  })
}

/** JSON.parse would silently take the second of two. */
function duplicateKey(node: Node): Node | undefined {
  const seen = new Set<string>()
  for (const child of node.children ?? []) {
    if (node.type === 'object') {
      const key = keyOf(child)
      if (seen.has(key)) return child
      seen.add(key)
    }
    const inner = duplicateKey(child)
    if (inner !== undefined) return inner
  }
  return undefined
}

function keyOf(property: Node): string {
  return JSON.stringify(property.children?.[0]?.value)
}

function nearestNode(root: Node, path: JsonPath): Node {
  for (let length = path.length; length > 0; length -= 1) {
    const node = findNodeAtLocation(root, path.slice(0, length))
    if (node !== undefined) return node.parent?.type === 'property' ? node.parent : node
  }
  return root
}

function lineAt(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset).split(/\r\n|\n|\r/)
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}
