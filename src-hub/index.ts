export { type RunningHub, startHub } from './hub.ts'
export {
  defaultHubLimits,
  type HubClock,
  hubFaultPoints,
  type HubLimits,
  type HubLog,
  type HubOptions,
  type HubPolicy,
} from './options.ts'
