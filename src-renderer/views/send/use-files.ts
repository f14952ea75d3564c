import { useState } from 'react'
import { desktop } from '../../state/bridge.ts'

export interface ChosenFiles {
  /** Absolute paths. */
  readonly paths: readonly string[]
  readonly add: () => void
  readonly remove: (path: string) => void
  readonly clear: () => void
}

/** Files chosen through the platform's dialog, each once. */
export function useFiles(onError: (error: unknown) => void): ChosenFiles {
  const [paths, setPaths] = useState<readonly string[]>([])
  return {
    paths,
    add: () => {
      desktop.shell
        .chooseFiles({})
        .then((chosen) => setPaths((before) => [...new Set([...before, ...chosen.paths])]))
        .catch(onError)
    },
    remove: (path) => setPaths((before) => before.filter((each) => each !== path)),
    clear: () => setPaths([]),
  }
}
