export * from './types.ts'
export { openStore, type StoreOptions } from './open-store.ts'
