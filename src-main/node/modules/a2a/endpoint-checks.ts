import type { CheckView, EndpointView } from '@shared/contract/index.ts'

/** What `anet doctor` says of the endpoint. `tokenProblem`: why nobody is authorised, if that is so. */
export function endpointChecks(status: EndpointView, tokenProblem: string | undefined): CheckView[] {
  const checks: CheckView[] = [{ name: 'a2a endpoint', ...endpointOutcome(status), seen: status.sentence }]
  if (status.state === 'up') {
    checks.push(
      tokenProblem === undefined
        ? { name: 'a2a token', outcome: 'ok', seen: `${status.tokenFile ?? ''} holds the token.`, remedy: null }
        : {
            name: 'a2a token',
            outcome: 'fail',
            seen: `Nobody is authorised: ${status.tokenFile ?? ''}: ${tokenProblem}.`,
            remedy:
              'Restore the file: one line of 64 hexadecimal characters, owned by you, mode 600. Or remove it and restart the node for a new token.',
          },
    )
  }
  return checks
}

function endpointOutcome(status: EndpointView): Pick<CheckView, 'outcome' | 'remedy'> {
  switch (status.state) {
    case 'up':
    case 'starting':
      return { outcome: 'ok', remedy: null }
    case 'disabled':
    case 'not_built':
      return { outcome: 'warn', remedy: null }
    case 'port_conflict':
      return { outcome: 'fail', remedy: status.conflict?.remedy.join(' ') ?? null }
    case 'address_file_invalid':
      return { outcome: 'fail', remedy: 'Mend or remove the address file, then run "anet a2a retry".' }
    case 'failed':
      return { outcome: 'fail', remedy: 'The node log has the details. Then run "anet a2a retry".' }
  }
}
