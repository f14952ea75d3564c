export { openSqliteStore } from './sqlite-store.ts'
export { lockDirectory } from './sqlite-handle.ts'
export { seenStep } from './types.ts'
export type * from './types.ts'
