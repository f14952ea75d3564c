export { type Backends, startBackends } from './start.ts'
