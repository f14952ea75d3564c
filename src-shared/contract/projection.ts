import { z } from 'zod'
import { AnetError, errorView } from '../errors.ts'
import {
  type ClientOf,
  type HandlersOf,
  type Operation,
  type OperationTree,
  type Result,
  resultSchema,
} from './contract.ts'

/** How a door carries a call: `method` is `group.name`. The answer is an envelope of {@link resultSchema}. */
export type Call = (method: string, input: unknown) => Promise<unknown>

/** Most problems of one input that an error names; the rest adds nothing for a reader. */
const namedProblems = 16

/**
 * A contract seen through a door: every operation becomes a function that sends its input through `call`, checks the
 * envelope and the output, and throws an {@link AnetError} with the code of the other side. An answer of another form
 * than the contract's is `bad_answer`: both sides are of different versions.
 */
export function createClient<T extends OperationTree>(contract: T, call: Call): ClientOf<T> {
  return project(contract, (method, operation) => async (input) => {
    const envelope = resultSchema.safeParse(await call(method, input))
    if (!envelope.success) throw badAnswer(method)
    if (!envelope.data.ok) {
      const { code, message, ...more } = envelope.data.error
      throw new AnetError(code, message, {
        ...(more.remedy === undefined ? {} : { remedy: more.remedy }),
        ...(more.details === undefined ? {} : { details: more.details }),
      })
    }
    const output = operation.output.safeParse(envelope.data.value)
    if (!output.success) throw badAnswer(method)
    return output.data
  })
}

/** A contract in the process of its implementation: inputs are parsed as at any door, outputs are checked by their types. */
export function localClient<T extends OperationTree>(contract: T, handlers: HandlersOf<T>): ClientOf<T> {
  return project(contract, (method, operation) => async (input) => {
    const run = implementationOf(handlers, method)
    return run(parseInput(method, operation, input))
  })
}

/**
 * Answers one call that came through a door: finds the operation by its name, parses the input, and folds the outcome
 * into an envelope. Errors: `unknown_method`, `invalid_input` (with `details.fields`), those of the handler; anything
 * unexpected goes to `onUnexpected` and leaves as `internal`, without its text. Works over handlers and over the client
 * of another door alike. Bounding the size of `input` is the door's business: it knows it before it is parsed.
 */
export async function handle<T extends OperationTree>(
  contract: T,
  implementation: HandlersOf<T> | ClientOf<T>,
  method: string,
  input: unknown,
  onUnexpected: (error: unknown) => void = () => {},
): Promise<Result> {
  try {
    const operation = operationOf(contract, method)
    if (operation === undefined)
      throw new AnetError('unknown_method', `There is no operation "${method.slice(0, 64)}".`)
    const run = implementationOf(implementation, method)
    return { ok: true, value: await run(parseInput(method, operation, input)) }
  } catch (error) {
    if (!(error instanceof AnetError)) onUnexpected(error)
    return { ok: false, error: errorView(error) as Extract<Result, { ok: false }>['error'] }
  }
}

/** The operation of a name; only what the contract itself lists, nothing inherited. */
function operationOf(contract: OperationTree, method: string): Operation | undefined {
  const [group, name, more] = method.split('.')
  if (group === undefined || name === undefined || more !== undefined) return undefined
  if (!Object.hasOwn(contract, group) || !Object.hasOwn(contract[group] ?? {}, name)) return undefined
  return contract[group]?.[name]
}

function parseInput(method: string, operation: Operation, input: unknown): unknown {
  const parsed = operation.input.safeParse(input)
  if (parsed.success) return parsed.data
  const fields = parsed.error.issues
    .slice(0, namedProblems)
    .map((issue) => ({ field: z.core.toDotPath(issue.path), problem: issue.message }))
  const first = fields[0]
  throw new AnetError(
    'invalid_input',
    `The input of ${method} is not valid: ${first === undefined ? '' : `${first.field || 'the whole'}: ${first.problem}`}.`,
    { details: { fields } },
  )
}

type Run = (input: unknown) => Promise<unknown>

function implementationOf(implementation: object, method: string): Run {
  const [group = '', name = ''] = method.split('.')
  // the contract's types promise that every operation has its function
  return async (input) => (implementation as Record<string, Record<string, Run>>)[group]?.[name]?.(input)
}

function project<T extends OperationTree>(
  contract: T,
  functionOf: (method: string, operation: Operation) => (input: unknown) => Promise<unknown>,
): ClientOf<T> {
  const groups = Object.entries(contract).map(([group, operations]) => [
    group,
    Object.fromEntries(
      Object.entries(operations).map(([name, operation]) => [name, functionOf(`${group}.${name}`, operation)]),
    ),
  ])
  return Object.fromEntries(groups) as ClientOf<T>
}

function badAnswer(method: string): AnetError {
  return new AnetError('bad_answer', `The node answered ${method} in a form that this program does not know.`, {
    remedy: 'Both are probably of different versions: run "anet stop && anet up".',
  })
}
