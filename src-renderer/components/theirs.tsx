import { TextQuote } from 'lucide-react'
import { type ReactElement, useState } from 'react'
import { strings } from '../strings/index.ts'
import { Button } from './button.tsx'
import { InertText } from './inert-text.tsx'
import classes from './theirs.module.css'

const shownAtFirst = 4000
const step = 50_000

/** A block of a remote agent's text, marked as theirs: bar, quote icon, source line; long texts unfold in steps. */
export function Theirs({ source, text }: { readonly source: string; readonly text: string }): ReactElement {
  const [limit, setLimit] = useState(shownAtFirst)
  return (
    <blockquote className={classes['theirs']}>
      <p className={classes['source']}>
        <TextQuote aria-hidden />
        <InertText text={source} limit={200} />
      </p>
      <p className={`${classes['text']} selectable`}>
        <InertText text={text} limit={limit} />
      </p>
      {text.length > limit && (
        <Button variant="link" onClick={() => setLimit(limit + step)}>
          {strings.common.showMore(text.length - limit)}
        </Button>
      )}
    </blockquote>
  )
}
