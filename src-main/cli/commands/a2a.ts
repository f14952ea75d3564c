import { AnetError } from '@shared/errors.ts'
import type { EndpointView } from '@shared/contract/index.ts'
import { anetCommand, anetGroup, type CommonOptions, run } from '../command.ts'
import { conflictText, endpointLines } from '../node-text.ts'
import { fields } from '../text.ts'

const address = anetCommand('address', 'print the address of the local A2A endpoint', 'anet a2a address --url')
  .option('--url', 'the URL of the agents instead of host:port', false)
  .action(
    run(async ({ node, show }, _: [], { url }: CommonOptions & { url: boolean }) => {
      const endpoint = await node.endpoint.status({})
      requireUp(endpoint)
      show(endpoint, (url ? endpoint.agentsUrl : endpoint.address) ?? '')
    }),
  )

const tokenFile = anetCommand('token-file', 'print the path of the token file', 'anet a2a token-file').action(
  run(async ({ node, show }) => {
    const endpoint = await node.endpoint.status({})
    if (endpoint.tokenFile === null) throw notUp(endpoint)
    show({ tokenFile: endpoint.tokenFile }, endpoint.tokenFile)
  }),
)

const retry = anetCommand('retry', 'try the recorded port again, after a conflict', 'anet a2a retry').action(
  run(async ({ node, show }) => {
    const endpoint = await node.endpoint.retry({})
    const lines = fields(endpointLines(endpoint))
    show(endpoint, endpoint.conflict === null ? lines : `${lines}\n\n${conflictText(endpoint.conflict)}`)
    return endpoint.state === 'up' ? 0 : 1
  }),
)

export const a2aCommand = anetGroup('a2a', 'the local A2A endpoint', [address, tokenFile, retry])

function requireUp(endpoint: EndpointView): void {
  if (endpoint.state !== 'up') throw notUp(endpoint)
}

function notUp(endpoint: EndpointView): AnetError {
  const remedy = endpoint.conflict?.remedy.join(' ') ?? 'See "anet doctor".'
  return new AnetError('endpoint_down', endpoint.sentence, { remedy })
}
