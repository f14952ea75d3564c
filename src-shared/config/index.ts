export * from './config.ts'
export * from './duration.ts'
export { knownKeys, suggestKey } from './known-keys.ts'
export { nearest } from './nearest.ts'
