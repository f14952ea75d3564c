import { FolderOpen, RefreshCw } from 'lucide-react'
import type { ReactElement } from 'react'
import type { ShellView } from '@shared/contract/index.ts'
import { Button } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { desktop } from '../../state/bridge.ts'
import { strings } from '../../strings/index.ts'
import { SetupFrame } from './setup-frame.tsx'

/** Starting, failed or stopped: what is so, and what can be done about it. */
export function NodeDown({ shell }: { readonly shell: ShellView }): ReactElement {
  const text = strings.setup.down
  const { error } = shell
  const footer = shell.phase !== 'starting' && (
    <>
      {error !== null && (
        <CopyButton
          size="decision"
          text={`${error.code}: ${error.message}\n${error.remedy ?? ''}`}
          what="details"
          label={text.copy}
        />
      )}
      <Button size="decision" icon={<FolderOpen aria-hidden />} onClick={() => void desktop.shell.openDataFolder({})}>
        {text.openFolder}
      </Button>
      <Button
        variant="primary"
        size="decision"
        icon={<RefreshCw aria-hidden />}
        onClick={() => void desktop.shell.retryStart({})}
      >
        {text.start}
      </Button>
    </>
  )
  return (
    <SetupFrame shell={shell} title={text.titles[shell.phase]} intro={error?.message ?? ''} footer={footer}>
      {error?.remedy !== undefined && <p>{error.remedy}</p>}
    </SetupFrame>
  )
}
