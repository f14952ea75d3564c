import type { ControlOptions, ControlServer } from './server.ts'

export { connectControl, type ControlDoor } from './client.ts'
export type { ControlOptions, ControlServer } from './server.ts'

/** {@link ControlServer} of server.ts, loaded when it is started: the command line needs the client alone, at once. */
export async function startControl(options: ControlOptions): Promise<ControlServer> {
  const server = await import('./server.ts')
  return server.startControl(options)
}
