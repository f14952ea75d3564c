import { Command } from 'commander'
import type { NodeClient } from '@shared/contract/index.ts'
import { connectControl, type ControlDoor } from '../node/control/index.ts'
import { dataDirectory } from '../node/data-dir/index.ts'
import { exitCodeOf, exitCodesHelp, printError } from './exit.ts'
import { inertJson } from './text.ts'

/** Options that every command has. */
export interface CommonOptions {
  readonly json: boolean
  readonly data?: string
}

/** What a command works with. */
export interface Context {
  readonly json: boolean
  readonly dataDir: string
  /** The running node; its calls fail with `node_not_running` when there is none. */
  readonly door: ControlDoor
  readonly node: NodeClient
  /** Prints the result: the value for programs, or the text for people. */
  show(value: unknown, text: string): void
}

/** A command with the options that all have, an example and the exit codes in its help. */
export function anetCommand(nameAndArguments: string, description: string, example: string): Command {
  return new Command(nameAndArguments)
    .description(description)
    .option('--json', 'print JSON for programs', false)
    .option('--data <dir>', 'data directory of the node (default: $ANET_DATA_DIR or ~/.anet)')
    .addHelpText('after', `\nExample:\n${example.replaceAll(/^/gm, '  $ ')}\n${exitCodesHelp}`)
}

/** A command that only groups others. */
export function anetGroup(name: string, description: string, commands: readonly Command[]): Command {
  const group = new Command(name).description(description)
  for (const command of commands) group.addCommand(command)
  return group
}

/**
 * Runs a command: opens the door, prints errors in the form that was asked for, and sets the exit code. `work` may
 * return another exit code than 0.
 */
export function run<A extends readonly unknown[], O extends CommonOptions>(
  work: (context: Context, parameters: A, options: O) => Promise<number | void> | number | void,
): (...all: [...A, O, Command]) => Promise<void> {
  return async (...all) => {
    const options = all.at(-2) as O
    const parameters = all.slice(0, -2) as unknown as A
    const dataDir = dataDirectory(options.data)
    const door = connectControl({ dataDir })
    const context: Context = {
      json: options.json,
      dataDir,
      door,
      node: door.client,
      show: (value, text) => {
        process.stdout.write(`${options.json ? inertJson(value, 2) : text}\n`)
      },
    }
    try {
      process.exitCode = (await work(context, parameters, options)) ?? 0
    } catch (error) {
      printError(error, options.json)
      process.exitCode = exitCodeOf(error)
    } finally {
      door.close()
    }
  }
}
