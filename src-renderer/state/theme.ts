import { useEffect } from 'react'
import { useMirror } from './mirror.ts'

/** Sets `data-theme` from the setting; `system` follows the desktop as it changes. */
export function useTheme(): void {
  const setting = useMirror((mirror) => mirror.shell?.theme ?? 'system')
  useEffect(() => {
    const dark = window.matchMedia('(prefers-color-scheme: dark)')
    const apply = (): void => {
      document.documentElement.dataset['theme'] = setting === 'system' ? (dark.matches ? 'dark' : 'light') : setting
    }
    apply()
    dark.addEventListener('change', apply)
    return () => dark.removeEventListener('change', apply)
  }, [setting])
}
