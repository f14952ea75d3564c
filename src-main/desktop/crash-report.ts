import { arch, platform, release } from 'node:os'
import { version } from '../node/version.ts'

const reloads = 3
const calmAfterMs = 60_000

export interface Crash {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly reason: string
  readonly exitCode: number
}

/** The crashes of the window's page within a minute, and what follows on one more. */
export class CrashTally {
  #crashes: readonly Crash[] = []

  get crashes(): readonly Crash[] {
    return this.#crashes
  }

  /** `reload` three times; then `explain` with a page of its own; and if that crashes too, `stay` as it is. */
  add(crash: Crash): 'reload' | 'explain' | 'stay' {
    this.#crashes = [...this.#crashes.filter(({ at }) => at > crash.at - calmAfterMs), crash]
    if (this.#crashes.length <= reloads) return 'reload'
    return this.#crashes.length === reloads + 1 ? 'explain' : 'stay'
  }
}

/** What somebody who looks for the fault needs to know. Nothing of the operator is in it: no path, name, text or address. */
export function crashReport(crashes: readonly Crash[]): string {
  const { electron, chrome } = process.versions
  return [
    `ANet ${version}, Electron ${electron}, Chromium ${chrome}`,
    `System: ${platform()} ${release()}, ${arch()}`,
    'The window crashed:',
    ...crashes.map(({ at, reason, exitCode }) => `  ${new Date(at).toISOString()}  ${reason}, exit code ${exitCode}`),
  ].join('\n')
}
