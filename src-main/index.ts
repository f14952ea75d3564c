import { app } from 'electron'
import { refusedSwitch, startOf } from './desktop/command-line.ts'

// Everything is imported when it is wanted, and awaited: Electron touches no display before this module has run.
const start = startOf(process.argv, new URL('..', import.meta.url))
switch (start.kind) {
  case 'command':
    await runCommand(start.parameters)
    break
  case 'child':
    await import(start.entry.href)
    // it ends itself, with its parent at the latest
    await new Promise(() => {})
    break
  case 'window':
    await openWindow()
}

async function runCommand(parameters: readonly string[]): Promise<void> {
  // there is no window to keep in a sandbox, and root could not start this program's children with one
  process.env['ELECTRON_DISABLE_SANDBOX'] = '1'
  process.argv = [process.execPath, 'anet', ...parameters]
  const { runCommandLine } = await import('./cli/program.ts')
  await runCommandLine()
  app.exit(Number(process.exitCode ?? 0))
}

async function openWindow(): Promise<void> {
  const refused = app.isPackaged ? refusedSwitch((name) => app.commandLine.hasSwitch(name)) : undefined
  if (refused !== undefined) {
    process.stderr.write(
      `ANet does not start with --${refused}: every program on this computer could use its window.\n`,
    )
    app.exit(64)
    return
  }
  const { startApplication } = await import('./desktop/application.ts')
  await startApplication()
}
