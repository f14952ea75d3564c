export { createInboundPolicy } from './policy.ts'
export { tasksMigrations } from './migrations.ts'
export { createTasks } from './tasks.ts'
export type * from '../types.ts'
