export * from './database.ts'
export { migrate } from './migrate.ts'
export { databaseDamaged, storageError } from './storage-error.ts'
export type * from './types.ts'
