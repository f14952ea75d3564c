export { demoHubAid, type DemoNetwork, type DemoNetworkOptions, startDemoNetwork } from './network.ts'
export type { CreateProcess, DemoProcess } from './process.ts'
export { runDemo, type RunDemoOptions } from './run.ts'
export { type DemoView, type RunningDemo, startDemo } from './start.ts'
