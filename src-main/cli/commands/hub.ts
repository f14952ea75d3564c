import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { Command, Option } from 'commander'
import { exitCodeOf, exitCodesHelp, printError } from '../exit.ts'
import { callHubAdmin, hubAddress, hubStatusSchema, inviteSchema } from '../hub-admin.ts'
import { numberOption } from '../options.ts'
import { fields, inertJson, when } from '../text.ts'

interface HubCommandOptions {
  readonly data?: string
  readonly json: boolean
}
interface RunOptions extends HubCommandOptions {
  readonly port: number
  readonly host: string
  readonly adminPort?: number
  readonly name?: string
  readonly policy: 'open' | 'invite' | 'admit'
}

const day = 24 * 60 * 60_000

const runCommand = hubSubcommand(
  'run',
  'run a hub until Ctrl+C',
  'anet hub run --data ~/hub --port 7800 --policy invite',
)
  .option('--port <n>', 'port of the hub; 0 takes any free one', numberOption(0, 65_535), 7800)
  .option('--host <address>', 'address to listen on; put a TLS proxy before any other than the default', '127.0.0.1')
  .option('--admin-port <n>', 'port of the admin listener, always on 127.0.0.1', numberOption(0, 65_535))
  .option('--name <name>', 'name that members see')
  .addOption(new Option('--policy <policy>', 'who may join').choices(['open', 'invite', 'admit']).default('invite'))
  .action(
    hubAction(async (dataDir, options: RunOptions) => {
      const { startHub } = await import('../../../src-hub/index.ts')
      const { createLog } = await import('../../node/log.ts')
      const { faultFromEnvironment } = await import('../../node/fault.ts')
      const hub = await startHub({
        dataDir,
        host: options.host,
        port: options.port,
        policy: options.policy,
        log: createLog({ dataDir, program: 'hub', stderr: true }),
        fault: faultFromEnvironment(),
        ...(options.adminPort === undefined ? {} : { adminPort: options.adminPort }),
        ...(options.name === undefined ? {} : { name: options.name }),
      })
      const asked = new Promise<void>((resolve) => {
        for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve())
      })
      const { url, aid, adminUrl } = hub
      const text = [
        fields([
          ['Hub', url],
          ['AID', aid],
          ['Policy', options.policy],
          ['Admin', adminUrl],
          ['Data', dataDir],
        ]),
        options.policy === 'invite'
          ? `Invite an agent: anet hub invite --data ${dataDir}`
          : `Join it: anet join ${url} --hub-aid ${aid}`,
      ].join('\n\n')
      process.stdout.write(`${options.json ? inertJson({ url, aid, adminUrl, dataDir }) : text}\n`)
      await asked
      await hub.stop()
    }),
  )

const inviteCommand = hubSubcommand(
  'invite',
  'make an invite for one agent, at the hub that runs on this directory',
  'anet hub invite --data ~/hub --days 2',
)
  .option('--days <n>', 'how long it is good for', numberOption(1, 365), 7)
  .action(
    hubAction(async (dataDir, { json, days }: HubCommandOptions & { days: number }) => {
      const invite = inviteSchema.parse(
        await callHubAdmin(dataDir, 'POST', '/admin/v1/invites', { validFor: days * day }),
      )
      const url = await hubAddress(dataDir)
      const text = `${invite.invite}\n\nGood for one agent until ${when(invite.expiresAt)}:\n  anet join ${url} --hub-aid ${invite.hub} --invite ${invite.invite}`
      process.stdout.write(`${json ? inertJson({ ...invite, url }, 2) : text}\n`)
    }),
  )

const statusCommand = hubSubcommand('status', 'show the hub that runs on this directory', 'anet hub status').action(
  hubAction(async (dataDir, { json }: HubCommandOptions) => {
    const status = hubStatusSchema.parse(await callHubAdmin(dataDir, 'GET', '/admin/v1/status'))
    const url = await hubAddress(dataDir)
    const text = fields([
      ['Hub', `${status.name} (${url})`],
      ['AID', status.aid],
      ['Policy', status.policy],
      ['Members', `${status.members}, ${status.waiting} waiting, ${status.removed} removed`],
      ['Sessions', String(status.sessions)],
      ['Mailboxes', `${status.messages} messages, ${status.bytes} bytes`],
    ])
    process.stdout.write(`${json ? inertJson({ ...status, url }, 2) : text}\n`)
  }),
)

export const hubCommand = new Command('hub').description('run a hub for others')
for (const command of [runCommand, inviteCommand, statusCommand]) hubCommand.addCommand(command)

function hubSubcommand(name: string, description: string, example: string): Command {
  return new Command(name)
    .description(description)
    .option('--json', 'print JSON for programs', false)
    .option('--data <dir>', 'data directory of the hub (default: ~/.anet-hub)')
    .addHelpText('after', `\nExample:\n  $ ${example}\n${exitCodesHelp}`)
}

function hubAction<O extends HubCommandOptions>(
  work: (dataDir: string, options: O) => Promise<void>,
): (options: O) => Promise<void> {
  return async (options) => {
    try {
      await work(resolve(options.data ?? join(homedir(), '.anet-hub')), options)
    } catch (error) {
      printError(error, options.json)
      process.exitCode = exitCodeOf(error)
    }
  }
}
