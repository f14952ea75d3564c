export * from './text.ts'
export * from './values.ts'
