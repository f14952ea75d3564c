export interface ElectronRuntime {
  readonly executable: string
  readonly version: string
  readonly source: 'override' | 'package' | 'pinned'
}
export function resolveElectron(say: (sentence: string) => void): Promise<ElectronRuntime>
