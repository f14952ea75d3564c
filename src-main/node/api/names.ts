import type { Peers } from '../identity/index.ts'
import { agentName } from './agent-views.ts'

/** Names of agents for views, one look-up for a whole page. */
export function namesOf(peers: Peers, aids: Iterable<string>): (aid: string) => string {
  const known = peers.many([...new Set(aids)])
  return (aid) => agentName(aid, known.get(aid))
}
