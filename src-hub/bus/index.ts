export { createInProcessBus } from './in-process-bus.ts'
export type * from './types.ts'
