import type { AgentDetailView, AgentView } from '@shared/contract/index.ts'
import { anetCommand, anetGroup, type CommonOptions, run } from '../command.ts'
import { numberOption } from '../options.ts'
import { clipped, fields, inert, inertJson, inertLine, shortAid, stateWord, table, when } from '../text.ts'

interface ListOptions extends CommonOptions {
  readonly skill?: string
  readonly tag?: string
  readonly search?: string
  readonly limit: number
  readonly cursor?: string
  readonly refresh: boolean
  readonly wide: boolean
}

const list = anetCommand('list', 'list the agents of the hub', 'anet agents list --search summarise')
  .option('--skill <id>', 'only agents with this skill')
  .option('--tag <tag>', 'only agents with a skill of this tag')
  .option('--search <text>', 'full text over names, descriptions, skills and tags')
  .option('--limit <n>', 'how many', numberOption(1, 200), 50)
  .option('--cursor <cursor>', 'next page, as the list before printed it')
  .option('--refresh', 'ask the hub first', false)
  .option('--wide', 'whole AIDs', false)
  .action(
    run(async ({ node, show }, _: [], { skill, tag, search, limit, cursor, refresh, wide }: ListOptions) => {
      const page = await node.agents.list({
        limit,
        refresh,
        ...(skill === undefined ? {} : { skill }),
        ...(tag === undefined ? {} : { tag }),
        ...(search === undefined ? {} : { q: search }),
        ...(cursor === undefined ? {} : { cursor }),
      })
      const rows = page.agents.map((agent) => [
        clipped(agent.name, 32),
        shortAid(agent.aid, wide),
        trustWord(agent),
        agent.charge ?? '',
        agent.lastSeen === null ? '' : when(agent.lastSeen),
        clipped(agent.skills.map((skillOf) => skillOf.id).join(' '), 40),
      ])
      const hint = wide ? '' : '\n\nWhole AIDs, as other commands take them: --wide'
      const more = page.nextCursor === '' ? '' : `\n\nMore: --cursor ${page.nextCursor}`
      show(
        page,
        rows.length === 0
          ? 'No agents yet. "anet status" says whether this node has joined a hub.'
          : table(['NAME', 'AID', 'IDENTITY', 'CHARGE', 'LAST SEEN', 'SKILLS'], rows) + hint + more,
      )
    }),
  )

const show = anetCommand('show', 'show one agent', 'anet agents show bafyrei…')
  .argument('<aid>', 'AID of the agent')
  .action(
    run(async ({ node, show: print }, [aid]: [string]) => {
      const agent = await node.agents.get({ aid })
      print(agent, agentText(agent))
    }),
  )

const card = anetCommand(
  'card',
  'print a card of an agent: the proxy card of this node, or with --network what the agent says of itself',
  'anet agents card bafyrei… --network',
)
  .argument('<aid>', 'AID of the agent')
  .option('--network', "the agent's own card", false)
  .action(
    run(async ({ node, show: print }, [aid]: [string], { network }: CommonOptions & { network: boolean }) => {
      const agent = await node.agents.get({ aid })
      const chosen = network ? agent.networkCard : agent.proxyCard
      print(chosen, chosen === null ? 'This agent has no verified card.' : inertJson(chosen, 2))
    }),
  )

export const agentsCommand = anetGroup('agents', 'agents of the network', [list, show, card])

function trustWord(agent: AgentView): string {
  return [
    agent.forked ? 'FORKED' : agent.verification.toLowerCase(),
    agent.keyState === 'stale' ? 'stale' : undefined,
    agent.relation === 'none' ? undefined : agent.relation,
  ]
    .filter((word) => word !== undefined)
    .join(' ')
}

function agentText(agent: AgentDetailView): string {
  const skills = agent.skills.map((skill) => `  ${inertLine(skill.id)}: ${inertLine(skill.description || skill.name)}`)
  const history = agent.history.map(
    (entry) => `  ${entry.seq}  ${entry.emergency ? 'emergency ' : ''}${entry.type}  ${when(entry.at)}`,
  )
  return [
    fields([
      ['Name', inertLine(agent.name)],
      ['AID', agent.aid],
      ['Identity', trustWord(agent)],
      ['Charge', agent.charge ?? 'not stated'],
      ['Last seen', agent.lastSeen === null ? 'never' : when(agent.lastSeen)],
      ['URL', agent.url ?? 'none: the local A2A endpoint is down'],
      ['Tasks', `${agent.tasks.total} with it, ${agent.tasks.failed} ${stateWord('failed')}`],
    ]),
    ...(agent.description === null ? [] : [inert(agent.description)]),
    ...(skills.length === 0 ? [] : [`Skills\n${skills.join('\n')}`]),
    ...(history.length === 0 ? [] : [`Key history\n${history.join('\n')}`]),
    ...(agent.curl === null ? [] : [`Send it a task\n${agent.curl}`]),
  ].join('\n\n')
}
