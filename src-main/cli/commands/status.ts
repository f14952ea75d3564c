import { anetCommand, run } from '../command.ts'
import { nodeText } from '../node-text.ts'

export const statusCommand = anetCommand('status', 'show the running node', 'anet status').action(
  run(async ({ node, show }) => {
    const view = await node.node.status({})
    show(view, nodeText(view))
  }),
)
