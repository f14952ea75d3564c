import { Command } from 'commander'
import { exitCodeOf, exitCodesHelp, printError } from '../exit.ts'
import { resolve } from 'node:path'

export const demoCommand = new Command('demo')
  .description('start a demo network on this computer: a hub, three agents and your node')
  .option(
    '--data <dir>',
    'directory of the demo (default: $ANET_DEMO_DIR or ~/.anet-demo); removing it removes everything',
  )
  .option('--ready-file <file>', 'write {addr, tokenFile, dataDir, aid, agents} there when everything answers')
  .option('--json', 'print the same as JSON instead of what to try', false)
  .addHelpText('after', `\nExample:\n  $ anet demo\n${exitCodesHelp}`)
  .action(async (options: { data?: string; readyFile?: string; json: boolean }) => {
    try {
      const { runDemo } = await import('../../demo/index.ts')
      await runDemo({
        json: options.json,
        ...(options.data === undefined ? {} : { dataDir: resolve(options.data) }),
        ...(options.readyFile === undefined ? {} : { readyFile: resolve(options.readyFile) }),
      })
    } catch (error) {
      printError(error, options.json)
      process.exitCode = exitCodeOf(error)
    }
  })
