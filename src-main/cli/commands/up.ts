import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { z } from 'zod'
import { nodeView, type NodeView } from '@shared/contract/index.ts'
import { AnetError, errorView, isAnetError } from '@shared/errors.ts'
import type { PassphraseSource } from '../../node/secrets/index.ts'
import { anetCommand, type CommonOptions, type Context, run } from '../command.ts'
import { exitCodes } from '../exit.ts'
import { nodeText } from '../node-text.ts'
import { type PassphraseOptions, passphraseSource } from '../passphrase.ts'
import { selfCommand } from '../processes.ts'
import { inertJson } from '../text.ts'

interface UpOptions extends CommonOptions, PassphraseOptions {
  readonly foreground: boolean
}

/** What the child of a detached start tells its parent, once. */
const reportSchema = z.union([
  z.object({ ready: nodeView }),
  z.object({ error: z.object({ code: z.string(), message: z.string(), remedy: z.string().optional() }) }),
])

export const upCommand = anetCommand('up', 'start the node', 'anet up')
  .option('--foreground', 'run in this terminal until Ctrl+C', false)
  .option('--passphrase-file <path>', 'file with the passphrase of the secret store, readable by you alone')
  .option('--passphrase-fd <n>', 'file descriptor to read the passphrase from')
  .action(
    run(async (context, _: [], options: UpOptions) => {
      const running = await statusOf(context)
      if (running !== undefined) {
        context.show({ ...running, alreadyRunning: true }, `The node runs already.\n\n${nodeText(running)}`)
        return
      }
      const source = await passphraseSource(options)
      if (options.foreground) {
        await runInForeground(context, source)
        return
      }
      const { describeSecrets } = await import('../../node/secrets/index.ts')
      const secrets = await describeSecrets(context.dataDir)
      // asked here: the child has no terminal
      await startDetached(context, secrets?.kind === 'passphrase' ? await source() : undefined)
    }),
  )

async function statusOf({ node }: Context): Promise<NodeView | undefined> {
  try {
    return await node.node.status({})
  } catch (error) {
    if (isAnetError(error, 'node_not_running')) return undefined
    throw error
  }
}

async function runInForeground(context: Context, passphrase: PassphraseSource): Promise<void> {
  const [{ startNode }, { createLog }] = await Promise.all([import('../../node/node.ts'), import('../../node/log.ts')])
  // in the background nobody sees stderr: what ends the process unexpectedly is found in the node log
  const log = createLog({ dataDir: context.dataDir, stderr: true })
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'the node ended because of an error that nobody handled')
    process.exit(exitCodes.failure)
  })
  // a parent that started this process detached waits for one word of it
  const report = (message: unknown): void => {
    if (process.send !== undefined) process.send(message, () => process.disconnect?.())
  }
  let node
  try {
    node = await startNode({ dataDir: context.dataDir, kind: 'headless', passphrase, logToStderr: true })
  } catch (error) {
    report({ error: errorView(error) })
    throw error
  }
  const { stop } = node
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop())
  const view = await node.door.client.node.status({})
  report({ ready: view })
  context.show(view, nodeText(view))
  await node.stopped
}

async function startDetached(context: Context, passphrase: string | undefined): Promise<void> {
  const { file, prefix } = selfCommand()
  const input = passphrase === undefined ? [] : ['--passphrase-fd', '0']
  const child = spawn(file, [...prefix, 'up', '--foreground', '--data', context.dataDir, ...input], {
    detached: true,
    // the passphrase goes through the pipe: arguments and environments can be read by others
    stdio: [passphrase === undefined ? 'ignore' : 'pipe', 'ignore', 'ignore', 'ipc'],
    cwd: '/',
  })
  child.stdin?.end(passphrase)
  const report = await reportOf(child)
  if (child.connected) child.disconnect()
  child.unref()
  if ('error' in report) {
    const { code, message, remedy } = report.error
    throw new AnetError(code, message, remedy === undefined ? {} : { remedy })
  }
  context.show(report.ready, nodeText(report.ready))
}

async function reportOf(child: ChildProcess): Promise<z.infer<typeof reportSchema>> {
  const ending = new AbortController()
  const { signal } = ending
  try {
    const [message] = await Promise.race([
      once(child, 'message', { signal }),
      once(child, 'exit', { signal }).then(([code, killedBy]) => {
        throw new AnetError('node_did_not_start', `The node ended while it started (${String(code ?? killedBy)}).`, {
          remedy: 'Run "anet up --foreground" to see why.',
        })
      }),
    ])
    const report = reportSchema.safeParse(message)
    if (!report.success) {
      throw new AnetError('node_did_not_start', `The node answered its start with ${inertJson(message).slice(0, 200)}.`)
    }
    return report.data
  } finally {
    ending.abort()
  }
}
