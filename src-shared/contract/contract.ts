import { z } from 'zod'

/**
 * The node contract: everything that may be asked of a node on the operator's authority. One implementation
 * (src-main/node/api.ts), projected to the control plane, to Electron IPC and to MCP.
 */
export interface Operation<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> {
  /** `query` changes nothing; `command` may. */
  readonly kind: 'query' | 'command'
  readonly input: I
  readonly output: O
}

export function query<I extends z.ZodType, O extends z.ZodType>(input: I, output: O): Operation<I, O> {
  return { kind: 'query', input, output }
}

export function command<I extends z.ZodType, O extends z.ZodType>(input: I, output: O): Operation<I, O> {
  return { kind: 'command', input, output }
}

export type OperationGroup = Readonly<Record<string, Operation>>
export type OperationTree = Readonly<Record<string, OperationGroup>>

/** A contract as a caller sees it: `client.tasks.get({id})`. */
export type ClientOf<T extends OperationTree> = {
  readonly [G in keyof T]: {
    readonly [N in keyof T[G]]: (input: z.input<T[G][N]['input']>) => Promise<z.output<T[G][N]['output']>>
  }
}

/** A contract as an implementation sees it: parsed input, output to be checked by its type. */
export type HandlersOf<T extends OperationTree> = {
  readonly [G in keyof T]: {
    readonly [N in keyof T[G]]: (
      input: z.output<T[G][N]['input']>,
    ) => Promise<z.input<T[G][N]['output']>> | z.input<T[G][N]['output']>
  }
}

export const resultSchema = z.union([
  z.object({ ok: z.literal(true), value: z.unknown() }),
  z.object({
    ok: z.literal(false),
    error: z.object({
      code: z.string(),
      message: z.string(),
      remedy: z.string().optional(),
      details: z.record(z.string(), z.unknown()).optional(),
    }),
  }),
])
export type Result = z.infer<typeof resultSchema>
