export * from './contract.ts'
export * from './node-contract.ts'
export * from './views.ts'
