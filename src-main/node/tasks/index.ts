export { createInboundPolicy, createTasks, tasksMigrations } from './draft/index.ts'
export type * from './types.ts'
