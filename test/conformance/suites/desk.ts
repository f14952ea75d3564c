import type { Client } from '@a2a-js/sdk/client'
import type { RunningDemo } from '../../helpers/demo.ts'
import { type Binding, sdkClient, type SdkClientOptions } from '../../helpers/sdk-client.ts'

export type AgentName = Parameters<RunningDemo['agent']>[0]

/** What the suites run on: one binding of the demo's endpoint. */
export interface SdkDesk {
  readonly binding: Binding
  readonly demo: () => RunningDemo
  client(agent: AgentName, options?: Partial<SdkClientOptions>): Promise<Client>
}

export function sdkDesk(binding: Binding, demo: () => RunningDemo): SdkDesk {
  return {
    binding,
    demo,
    client: (agent, options = {}) =>
      sdkClient({ url: demo().agent(agent).url, token: demo().token(), binding, ...options }),
  }
}

/** A text over which the Echo takes half a second: it says it in 24 pieces. */
export const longText = Array.from({ length: 200 }, (_, word) => `word${word}`).join(' ')
