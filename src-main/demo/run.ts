import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { defaultDemoDir, writeWhole } from './layout.ts'
import { type DemoView, type RunningDemo, startDemo } from './start.ts'

export interface RunDemoOptions {
  /** Default: ANET_DEMO_DIR or ~/.anet-demo. Started again on the same directory, the demo goes on where it was. */
  readonly dataDir?: string
  /** Written when everything answers, whole or not at all; removed at the end. */
  readonly readyFile?: string
  /** Print the view as one line of JSON. */
  readonly json?: boolean
}

/** Runs the demo until Ctrl+C or SIGTERM. Should this process die, every process of the demo ends by itself. */
export async function runDemo(options: RunDemoOptions): Promise<void> {
  const dir = options.dataDir ?? defaultDemoDir()
  const stopping = new AbortController()
  const stop = () => stopping.abort()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop)
  if (options.readyFile !== undefined) await rm(options.readyFile, { force: true })
  let demo: RunningDemo
  try {
    demo = await startDemo({ dir, onDeath: reportDeath, signal: stopping.signal })
  } catch (error) {
    if (stopping.signal.aborted) return
    throw error
  }
  if (options.readyFile !== undefined) await writeWhole(options.readyFile, demo.view)
  if (options.json) process.stdout.write(`${JSON.stringify(demo.view)}\n`)
  else process.stdout.write(demoText(demo.view, dir))
  if (!stopping.signal.aborted) await once(stopping.signal, 'abort')
  if (options.readyFile !== undefined) await rm(options.readyFile, { force: true })
  await demo.stop()
}

function reportDeath(name: string, again: boolean): void {
  const what = again ? 'and is started again' : 'too often and stays down'
  process.stderr.write(`The process "${name}" of the demo ended ${what}.\n`)
}

function demoText(view: DemoView, dir: string): string {
  const [first] = view.agents
  const url = first?.url ?? ''
  const agents = view.agents.map(({ name, aid }) => `  ${name.padEnd(12)}${aid}`).join('\n')
  return `The demo network runs: a hub, three agents and your node.

  A2A endpoint  ${view.addr}
  Token file    ${view.tokenFile}
  Your AID      ${view.aid}

Agents:
${agents}

Try it, in bash or zsh:

  export ANET_DATA_DIR=${quote(view.dataDir)}
  ADDR=$(cat "$ANET_DATA_DIR/modules/a2a/a2a_addr.txt")
  TOKEN=$(cat "$ANET_DATA_DIR/modules/a2a/a2a_token.txt")
  auth() { printf 'Authorization: Bearer %s\\n' "$TOKEN"; }

  curl -s -H @<(auth) "http://$ADDR/a2a/v1/agents"
  curl -s -H @<(auth) "${url}/.well-known/agent-card.json"
  curl -sN -H @<(auth) -H 'Content-Type: application/json' -H 'A2A-Version: 1.0' \\
    "${url}/jsonrpc" -d '{
      "jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage",
      "params": { "message": {
        "role": "ROLE_USER", "messageId": "m-0001",
        "parts": [ { "text": "Hello from the other side of a hub." } ] } }
    }'

More is in docs/first-task.md. The keys of the demo lie in plain files (secret store "file").
Stop it with Ctrl+C. Remove it, with its identities and tasks, with: rm -r ${quote(dir)}
`
}

function quote(path: string): string {
  return /^[\w./~-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`
}
