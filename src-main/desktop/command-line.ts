import { fileURLToPath } from 'node:url'

export type Start =
  /** The `anet` command of the package: `anet-desktop --cli -- status`. */
  | { readonly kind: 'command'; readonly parameters: readonly string[] }
  /** A child of that command: Node's `fork` starts the application again, with the program as its first argument. */
  | { readonly kind: 'child'; readonly entry: URL }
  | { readonly kind: 'window' }

const children = ['workers/keychain.js', 'demo/hub-process.js', 'demo/agents-process.js', 'demo/node-process.js']

/** Switches that would open the window to other programs. */
const debuggingSwitches = ['remote-debugging-port', 'remote-debugging-pipe', 'remote-debugging-address']

/** What this process was started for. `out`: the folder of the build's outputs. */
export function startOf(argv: readonly string[], out: URL): Start {
  const at = argv.indexOf('--cli')
  if (at >= 0) {
    const parameters = argv.slice(at + 1)
    // behind "--" Chromium takes nothing for a switch of its own
    return { kind: 'command', parameters: parameters[0] === '--' ? parameters.slice(1) : parameters }
  }
  const entry = children.map((child) => new URL(child, out)).find((url) => fileURLToPath(url) === argv[1])
  return entry === undefined ? { kind: 'window' } : { kind: 'child', entry }
}

/** The first switch among those given that a package refuses. */
export function refusedSwitch(hasSwitch: (name: string) => boolean): string | undefined {
  return debuggingSwitches.find((name) => hasSwitch(name))
}
