export { type A2aModule, type A2aModuleOptions, startA2aModule } from './module.ts'
