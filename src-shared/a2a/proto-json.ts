/**
 * What a ProtoJSON parser forgives on input (A2A 1.0, section 5.5): snake_case names of fields, `null` for an absent field,
 * base64url and missing padding in bytes. The walk follows the message types, so that `metadata` and `data`, which hold
 * anything, are left as they are. Unknown fields stay; the schemas drop them.
 */
type FieldKind = 'plain' | 'bytes' | 'value' | 'integer' | Shape | readonly [Shape]
interface Shape {
  readonly fields: Readonly<Record<string, FieldKind>>
}

/** `google.protobuf.Struct` and `Value` nest at most this deep; the usual bound of ProtoJSON parsers. */
export const maxDepth = 100

const partShape: Shape = {
  fields: {
    text: 'plain',
    raw: 'bytes',
    url: 'plain',
    data: 'value',
    metadata: 'value',
    filename: 'plain',
    mediaType: 'plain',
  },
}
const messageShape: Shape = {
  fields: {
    messageId: 'plain',
    contextId: 'plain',
    taskId: 'plain',
    role: 'plain',
    parts: [partShape],
    metadata: 'value',
    extensions: 'plain',
    referenceTaskIds: 'plain',
  },
}

/** Parameters of the operations, by the names of A2A 1.0. */
export const requestShapes = {
  sendMessage: {
    fields: {
      tenant: 'plain',
      message: messageShape,
      configuration: {
        fields: {
          acceptedOutputModes: 'plain',
          taskPushNotificationConfig: 'plain',
          historyLength: 'integer',
          returnImmediately: 'plain',
        },
      },
      metadata: 'value',
    },
  },
  getTask: { fields: { tenant: 'plain', id: 'plain', historyLength: 'integer' } },
  listTasks: {
    fields: {
      tenant: 'plain',
      contextId: 'plain',
      status: 'plain',
      pageSize: 'integer',
      pageToken: 'plain',
      historyLength: 'integer',
      statusTimestampAfter: 'plain',
      includeArtifacts: 'plain',
    },
  },
  cancelTask: { fields: { tenant: 'plain', id: 'plain', metadata: 'value' } },
  subscribeToTask: { fields: { tenant: 'plain', id: 'plain' } },
} as const satisfies Record<string, Shape>

/** Thrown for a value that nests deeper than {@link maxDepth}; `path` names where. */
export class TooDeepError extends Error {
  override readonly name = 'TooDeepError'
  readonly path: string

  constructor(path: string) {
    super(`nests deeper than ${maxDepth} levels`)
    this.path = path
  }
}

const snakeNames = new WeakMap<Shape, ReadonlyMap<string, string>>()

/** Names of the fields of a shape that differ in snake_case, from snake_case to camelCase. */
function snakeNamesOf(shape: Shape): ReadonlyMap<string, string> {
  let names = snakeNames.get(shape)
  if (names === undefined) {
    names = new Map(
      Object.keys(shape.fields)
        .map((name) => [name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), name] as const)
        .filter(([snake, camel]) => snake !== camel),
    )
    snakeNames.set(shape, names)
  }
  return names
}

/** Brings a parsed JSON value into the form that the schemas expect. What is not an object is returned as it is. */
export function normaliseProtoJson(value: unknown, shape: Shape, path = ''): unknown {
  if (!isRecord(value)) return value
  const names = snakeNamesOf(shape)
  const result: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const field = value[key]
    const name = Object.hasOwn(shape.fields, key) ? key : names.get(key)
    if (name === undefined) continue
    // the camelCase name wins when both are given
    if (name !== key && Object.hasOwn(value, name)) continue
    const kind = shape.fields[name]
    // null means absent, but in a google.protobuf.Value it is a value
    if (field === null && !(kind === 'value' && name === 'data')) continue
    result[name] = normaliseField(field, kind, path === '' ? name : `${path}.${name}`)
  }
  return result
}

function normaliseField(field: unknown, kind: FieldKind | undefined, path: string): unknown {
  switch (kind) {
    case undefined:
    case 'plain':
      return field
    case 'bytes':
      return typeof field === 'string' ? paddedBase64(field) : field
    case 'integer':
      // ProtoJSON writes 64-bit integers as strings and accepts strings for all
      return typeof field === 'string' && /^-?\d{1,15}$/.test(field) ? Number(field) : field
    case 'value':
      checkDepth(field, path, maxDepth)
      return field
    default:
      break
  }
  if (isList(kind)) {
    const [item] = kind
    return Array.isArray(field)
      ? field.map((entry, index) => normaliseProtoJson(entry, item, `${path}[${index}]`))
      : field
  }
  return normaliseProtoJson(field, kind, path)
}

function isList(kind: Shape | readonly [Shape]): kind is readonly [Shape] {
  return Array.isArray(kind)
}

function paddedBase64(text: string): string {
  const standard = /[-_]/.test(text) ? text.replaceAll('-', '+').replaceAll('_', '/') : text
  const missing = (4 - (standard.length % 4)) % 4
  return missing === 0 || standard.endsWith('=') ? standard : standard + '='.repeat(missing)
}

function checkDepth(value: unknown, path: string, left: number): void {
  if (typeof value !== 'object' || value === null) return
  if (left === 0) throw new TooDeepError(path)
  for (const inner of Object.values(value)) checkDepth(inner, path, left - 1)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
