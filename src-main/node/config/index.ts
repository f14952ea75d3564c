export { loadConfig } from './load.ts'
export { type ConfigInput, updateConfig } from './update.ts'
