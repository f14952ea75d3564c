import { Command, CommanderError, Help, type Option } from 'commander'
import { version } from '../node/version.ts'
import { a2aCommand } from './commands/a2a.ts'
import { agentsCommand } from './commands/agents.ts'
import { demoCommand } from './commands/demo.ts'
import { doctorCommand } from './commands/doctor.ts'
import { hubCommand } from './commands/hub.ts'
import { inboxCommand } from './commands/inbox.ts'
import { initCommand } from './commands/init.ts'
import { joinCommand } from './commands/join.ts'
import { sendCommand } from './commands/send.ts'
import { statusCommand } from './commands/status.ts'
import { stopCommand } from './commands/stop.ts'
import { tasksCommand } from './commands/tasks.ts'
import { upCommand } from './commands/up.ts'
import { exitCodes, exitCodesHelp, printError, usageError } from './exit.ts'
import { inert } from './text.ts'

const program = new Command('anet')
  .description("Reach other people's agents as easily as a local HTTP server.")
  .version(version, '--version', 'print the version')
  .addHelpText('after', `\nFirst steps:\n  $ anet demo\n  $ anet init && anet up && anet join URL\n${exitCodesHelp}`)

const commands = [
  initCommand,
  upCommand,
  stopCommand,
  statusCommand,
  doctorCommand,
  joinCommand,
  agentsCommand,
  sendCommand,
  tasksCommand,
  inboxCommand,
  a2aCommand,
  hubCommand,
  demoCommand,
]
for (const command of commands) program.addCommand(command)
const json = process.argv.includes('--json')
for (const command of allOf(program)) {
  command.exitOverride().configureHelp({ optionDescription })
  if (command.parent === null || command.commands.length > 0) command.showHelpAfterError('"--help" explains it.')
  // with --json, problems of the arguments are printed by main, in the form that was asked for
  command.configureOutput({ outputError: json ? () => {} : (text, write) => write(inert(text)) })
}

/** Runs the command of `process.argv` to its end. The outcome is `process.exitCode`. */
export async function runCommandLine(): Promise<void> {
  try {
    await program.parseAsync(process.argv)
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    process.exitCode = error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
    if (json && process.exitCode !== 0) printError(usageError(error.message.replace(/^error: /, '')), true)
  }
}

/** A switch is off unless it is given: its help need not say so. */
function optionDescription(this: Help, option: Option): string {
  return option.defaultValue === false ? option.description : Help.prototype.optionDescription.call(this, option)
}

function allOf(command: Command): Command[] {
  return [command, ...command.commands.flatMap(allOf)]
}
