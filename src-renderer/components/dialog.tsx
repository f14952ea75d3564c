import { X } from 'lucide-react'
import { type ReactElement, type ReactNode, useId, useLayoutEffect, useRef } from 'react'
import { strings } from '../strings/index.ts'
import { Button } from './button.tsx'
import classes from './dialog.module.css'

export interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
  /** Buttons, right-aligned. */
  readonly footer: ReactNode
  readonly onSubmit?: () => void
  /** Room for a document. */
  readonly wide?: boolean
}

/** A modal dialog on the platform's own element: it traps the focus, closes on Escape and gives the focus back. */
export function Dialog({ title, onClose, onSubmit, wide = false, children, footer }: DialogProps): ReactElement {
  const ref = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  // closed while it is still in the document: only then the platform gives the focus back
  useLayoutEffect(() => {
    const dialog = ref.current
    dialog?.showModal()
    return () => dialog?.close()
  }, [])
  return (
    <dialog ref={ref} className={classes['dialog']} data-wide={wide} aria-labelledby={titleId} onCancel={onClose}>
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault()
          onSubmit?.()
        }}
      >
        <header className={classes['header']}>
          <h2 id={titleId}>{title}</h2>
          <Button variant="ghost" aria-label={strings.common.close} icon={<X aria-hidden />} onClick={onClose} />
        </header>
        <div className={classes['body']}>{children}</div>
        <footer className={classes['footer']}>{footer}</footer>
      </form>
    </dialog>
  )
}
