import { CircleAlert, CircleCheck } from 'lucide-react'
import { type ReactElement, useEffect } from 'react'
import { useToasts } from '../state/toasts.ts'
import { Button } from './button.tsx'
import classes from './toast-region.module.css'

const shownForMs = 6000

export function ToastRegion(): ReactElement {
  const { toast, dismiss } = useToasts()
  useEffect(() => {
    if (toast === undefined) return
    const timer = setTimeout(() => dismiss(toast.id), shownForMs)
    return () => clearTimeout(timer)
  }, [toast, dismiss])
  return (
    <div className={classes['region']} role="status" aria-live="polite">
      {toast !== undefined && (
        <div className={classes['toast']} key={toast.id}>
          {toast.tone === 'ok' ? (
            <CircleCheck aria-hidden />
          ) : (
            <CircleAlert aria-hidden className={classes['danger']} />
          )}
          <span>{toast.text}</span>
          {toast.action !== undefined && (
            <Button variant="ghost" onClick={toast.action.run}>
              {toast.action.label}
            </Button>
          )}
        </div>
      )}
    </div>
  )
}
