import { Clock, GitFork, KeyRound, ShieldCheck, ShieldQuestion } from 'lucide-react'
import type { ReactElement } from 'react'
import type { AgentView } from '@shared/contract/index.ts'
import { StateLabel } from '../../components/state-label.tsx'
import { strings } from '../../strings/index.ts'

export function VerificationMark({ agent }: { readonly agent: AgentView }): ReactElement {
  const verified = agent.verification === 'VERIFIED'
  return (
    <StateLabel icon={verified ? ShieldCheck : ShieldQuestion} tone={verified ? 'normal' : 'attention'}>
      {strings.agents.verification[agent.verification]}
    </StateLabel>
  )
}

export function KeyMark({ agent }: { readonly agent: AgentView }): ReactElement {
  const text = strings.agents.key
  if (agent.forked) {
    return (
      <StateLabel icon={GitFork} tone="failure">
        {text.fork}
      </StateLabel>
    )
  }
  return (
    <StateLabel
      icon={agent.keyState === 'fresh' ? KeyRound : Clock}
      tone={agent.keyState === 'fresh' ? 'normal' : 'attention'}
    >
      {text[agent.keyState]}
    </StateLabel>
  )
}
