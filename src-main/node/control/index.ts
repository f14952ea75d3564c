export { connectControl, type ControlDoor, nodeNotRunning } from './client.ts'
export { controlFiles } from './files.ts'
export { type ControlServer, startControl } from './server.ts'
