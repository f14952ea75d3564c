import { app } from 'electron'
import { commandLineArguments } from './desktop/command-line.ts'
import { startApplication } from './desktop/application.ts'
import { registerScheme } from './desktop/protocol.ts'

const commandLine = commandLineArguments(process.argv)
if (commandLine === undefined) {
  // the first is refused once the app is ready, the second before; root has no sandbox, in development and tests
  registerScheme()
  if (process.getuid?.() !== 0) app.enableSandbox()
  startApplication()
} else {
  // the command line of the packaged application ends before a display is touched
  process.argv = [process.execPath, 'anet', ...commandLine]
  void import('./cli/index.ts').then(() => app.exit(Number(process.exitCode ?? 0)))
}
