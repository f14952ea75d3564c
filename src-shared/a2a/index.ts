export * from './card.ts'
export * from './types.ts'
