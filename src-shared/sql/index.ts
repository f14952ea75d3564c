export type * from './types.ts'
export { configureSqlite, createSqlDatabase, type SqlDatabaseOptions } from './database.ts'
export { migrate } from './migrate.ts'
export { databaseDamaged, storageError } from './storage-error.ts'
