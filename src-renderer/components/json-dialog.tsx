import type { ReactElement } from 'react'
import { visibleText } from '@shared/format/index.ts'
import { strings } from '../strings/index.ts'
import { Button } from './button.tsx'
import { CopyButton } from './copy-button.tsx'
import { Dialog } from './dialog.tsx'
import { JsonBlock } from './json-block.tsx'

/** A document as it is, to read and to copy. */
export function JsonDialog({
  title,
  value,
  onClose,
}: {
  readonly title: string
  readonly value: unknown
  readonly onClose: () => void
}): ReactElement {
  return (
    <Dialog
      title={visibleText(title)}
      wide
      onClose={onClose}
      footer={
        <>
          <CopyButton text={JSON.stringify(value, null, 2)} what={title} label={strings.common.copy} />
          <Button onClick={onClose}>{strings.common.close}</Button>
        </>
      }
    >
      <JsonBlock value={value} />
    </Dialog>
  )
}
