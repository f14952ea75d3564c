export * from './card.ts'
export * from './types.ts'
export * from './text.ts'
