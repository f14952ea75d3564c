export { runDemo, type RunDemoOptions } from './run.ts'
export { type DemoView, type RunningDemo, startDemo } from './start.ts'
