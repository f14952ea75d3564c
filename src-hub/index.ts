export { type RunningHub, startHub } from './hub.ts'
export { defaultHubLimits, hubFaultPoints, type HubLog, type HubOptions } from './options.ts'
