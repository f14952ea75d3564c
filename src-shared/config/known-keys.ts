import { z } from 'zod'
import { configSchema } from './config.ts'
import { nearest } from './nearest.ts'

/**
 * What was most likely meant by an unknown key of config.json: the nearest of the keys that may stand there, else the
 * place where a key of that very name may stand ("peers.trust" for "trust"). Undefined if nothing comes near.
 */
export function suggestKey(parent: readonly PropertyKey[], key: string): string | undefined {
  return nearest(key, knownKeys(parent)) ?? allPaths(configSchema, []).find((path) => path.split('.').at(-1) === key)
}

/** The keys that may stand at this place of config.json. */
export function knownKeys(path: readonly PropertyKey[]): readonly string[] {
  let schema: z.core.$ZodType | undefined = configSchema
  for (const step of path) schema = schema && childOf(unwrap(schema), step)
  const object = schema && unwrap(schema)
  return object instanceof z.ZodObject ? Object.keys(object.shape) : []
}

function allPaths(schema: z.core.$ZodType, above: readonly string[]): string[] {
  const inner = unwrap(schema)
  if (!(inner instanceof z.ZodObject)) return []
  return Object.entries(inner.shape).flatMap(([key, child]) => {
    const path = [...above, key]
    return [path.join('.'), ...allPaths(child as z.core.$ZodType, path)]
  })
}

function childOf(schema: z.core.$ZodType, step: PropertyKey): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodObject) return (schema.shape as Record<PropertyKey, z.core.$ZodType>)[step]
  return schema instanceof z.ZodArray ? schema.element : undefined
}

/** What lies under defaults and optionality. */
function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional) {
    return unwrap(schema.def.innerType)
  }
  return schema
}
