export { loadConfig } from './load.ts'
export { updateConfig } from './update.ts'
