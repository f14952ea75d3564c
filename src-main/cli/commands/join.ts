import { anetCommand, type CommonOptions, run } from '../command.ts'
import { inert } from '../text.ts'

interface JoinOptions extends CommonOptions {
  readonly invite?: string
  readonly hubAid?: string
}

export const joinCommand = anetCommand(
  'join',
  'join a hub, or move to another one',
  'anet join https://hub.example.org --invite 7k2m-q9xd',
)
  .argument('<url>', 'URL of the hub')
  .option('--invite <code>', 'invite of the hub')
  .option('--hub-aid <aid>', 'identity that the hub must have')
  .action(
    run(async ({ node, show }, [url]: [string], { invite, hubAid }: JoinOptions) => {
      const state = await node.hub.join({
        url,
        ...(invite === undefined ? {} : { invite }),
        ...(hubAid === undefined ? {} : { aid: hubAid }),
      })
      show(state, inert(state.sentence))
      return state.registered || state.state === 'waiting_for_admission' ? 0 : 1
    }),
  )
