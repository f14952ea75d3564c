import { Check, Copy } from 'lucide-react'
import { type ReactElement, useEffect, useState } from 'react'
import { desktop } from '../state/bridge.ts'
import { strings } from '../strings/index.ts'
import { Button, type ButtonProps } from './button.tsx'

const confirmedForMs = 1600

export interface CopyButtonProps extends Omit<ButtonProps, 'onClick' | 'children' | 'icon'> {
  readonly text: string
  /** What is copied, for the accessible name: "A2A address". */
  readonly what: string
  /** Absent: an icon alone. */
  readonly label?: string
}

/** Copies, then says "Copied" with a check. */
export function CopyButton({ text, what, label, ...rest }: CopyButtonProps): ReactElement {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), confirmedForMs)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = (): void => {
    void desktop.shell.copyText({ text }).then(() => setCopied(true))
  }
  const name = copied ? strings.common.copied : `${strings.common.copy} ${what}`
  const shown = label === undefined ? undefined : copied ? strings.common.copied : label
  return (
    <Button
      variant={label === undefined ? 'ghost' : 'secondary'}
      {...rest}
      aria-label={name}
      title={name}
      aria-live="polite"
      icon={copied ? <Check aria-hidden /> : <Copy aria-hidden />}
      onClick={copy}
    >
      {shown}
    </Button>
  )
}
