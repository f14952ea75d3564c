import { Search } from 'lucide-react'
import { type ReactElement, useEffect, useRef } from 'react'
import classes from './search-field.module.css'

export interface SearchFieldProps {
  readonly label: string
  readonly value: string
  readonly onValue: (value: string) => void
}

/** Filters the view it stands in; Ctrl+F puts the focus here, Escape empties it. */
export function SearchField({ label, value, onValue }: SearchFieldProps): ReactElement {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== 'f' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      input.current?.select()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
  return (
    <label className={classes['search']}>
      <Search aria-hidden />
      <input
        ref={input}
        type="search"
        aria-label={label}
        placeholder={label}
        spellCheck={false}
        value={value}
        onChange={(event) => onValue(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onValue('')
        }}
      />
    </label>
  )
}
