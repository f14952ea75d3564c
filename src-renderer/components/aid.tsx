import type { ReactElement } from 'react'
import { shortAid } from '@shared/format/index.ts'
import { CopyButton } from './copy-button.tsx'
import classes from './aid.module.css'

/** An AID with its middle left out; in full on hover, for assistive technology and when copied. */
export function AidText({ aid, copy = false }: { readonly aid: string; readonly copy?: boolean }): ReactElement {
  return (
    <span className={classes['aid']}>
      <code title={aid} aria-label={aid}>
        {shortAid(aid)}
      </code>
      {copy && <CopyButton text={aid} what="AID" />}
    </span>
  )
}
