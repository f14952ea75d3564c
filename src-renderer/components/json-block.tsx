import type { ReactElement } from 'react'
import { visibleText } from '@shared/format/index.ts'
import classes from './json-block.module.css'

const shownCharacters = 200_000

export function JsonBlock({ value }: { readonly value: unknown }): ReactElement {
  const json = JSON.stringify(value, null, 2)
  return (
    <pre className={`${classes['json']} selectable`} tabIndex={0}>
      {visibleText(json.slice(0, shownCharacters))}
      {json.length > shownCharacters && '\n…'}
    </pre>
  )
}
