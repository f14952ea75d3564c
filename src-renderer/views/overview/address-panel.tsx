import { CircleAlert } from 'lucide-react'
import type { ReactElement } from 'react'
import type { EndpointView } from '@shared/contract/index.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { Panel } from '../../components/panel.tsx'
import { StateLabel } from '../../components/state-label.tsx'
import { strings } from '../../strings/index.ts'
import classes from './address-panel.module.css'

/** What a tool needs: the address to paste and the file with the token. */
export function AddressPanel({ endpoint }: { readonly endpoint: EndpointView }): ReactElement {
  const text = strings.overview
  const listening = endpoint.state === 'up'
  return (
    <Panel>
      <div className={classes['row']}>
        <span className={classes['name']}>{text.a2aAddress}</span>
        <code className={`selectable ${listening ? '' : classes['off']}`}>{endpoint.agentsUrl ?? '–'}</code>
        {!listening && (
          <StateLabel icon={CircleAlert} tone="failure">
            {text.notListening}
          </StateLabel>
        )}
        <CopyButton
          className={classes['copy']}
          variant={listening ? 'primary' : 'secondary'}
          text={endpoint.agentsUrl ?? ''}
          what={text.a2aAddress}
          label={strings.common.copy}
          disabled={!listening}
        />
      </div>
      <div className={classes['row']}>
        <span className={classes['name']}>{text.tokenFile}</span>
        <code className="selectable">{endpoint.tokenFile ?? '–'}</code>
        <CopyButton
          className={classes['copy']}
          text={endpoint.tokenFile ?? ''}
          what={text.tokenFile}
          label={strings.common.copy}
          disabled={endpoint.tokenFile === null}
        />
      </div>
      <p className={classes['hint']}>{listening ? text.pasteHint : text.downHint}</p>
    </Panel>
  )
}
