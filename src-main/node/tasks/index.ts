export {
  artifactWithoutBytes,
  messageWithoutBytes,
  statusWithoutBytes,
  taskMetadata,
  type TaskForm,
  taskWithBytes,
  taskWithoutBytes,
  withoutBytes,
} from './a2a-view.ts'
export { createInboundPolicy } from './inbound-policy.ts'
export { tasksMigrations } from './migrations.ts'
export { isLarge } from './parts.ts'
export { createTasks, type TasksOptions } from './task-floor.ts'
export type * from './types.ts'
