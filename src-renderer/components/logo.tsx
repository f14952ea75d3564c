import type { ReactElement } from 'react'

export function Logo({ size = 20 }: { readonly size?: number }): ReactElement {
  return (
    <svg width={size} height={size} viewBox="0 0 22 22" fill="none" stroke="var(--accent-text)" aria-hidden>
      <path d="M4.5 16.5v-6a6.5 6.5 0 0 1 13 0v6M4.5 12.5h13" strokeWidth="2" />
      <g fill="var(--accent-text)" stroke="none">
        <circle cx="4.5" cy="17.5" r="2.5" />
        <circle cx="17.5" cy="17.5" r="2.5" />
      </g>
    </svg>
  )
}
