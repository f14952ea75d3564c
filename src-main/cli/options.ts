import { resolve } from 'node:path'
import { InvalidArgumentError } from 'commander'

/** Parses a whole number within bounds. */
export function numberOption(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!Number.isInteger(value) || value < least || value > most) {
      throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`)
    }
    return value
  }
}

/** Collects an option that may be given several times: paths of files, made absolute for the node. */
export function filesOption(path: string, before: readonly string[] = []): readonly string[] {
  return [...before, resolve(path)]
}
