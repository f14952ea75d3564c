export * from './config.ts'
export * from './duration.ts'
