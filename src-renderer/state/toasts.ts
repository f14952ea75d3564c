import { create } from 'zustand'

export interface Toast {
  readonly id: number
  readonly text: string
  readonly tone: 'ok' | 'danger'
  readonly action?: { readonly label: string; readonly run: () => void }
}

/** One line at the bottom right, one at a time; the newest replaces the one before. */
interface Toasts {
  readonly toast: Toast | undefined
  readonly show: (toast: Omit<Toast, 'id'>) => void
  readonly dismiss: (id: number) => void
}

export const useToasts = create<Toasts>((set, get) => ({
  toast: undefined,
  show: (toast) => set({ toast: { ...toast, id: (get().toast?.id ?? 0) + 1 } }),
  dismiss: (id) => {
    if (get().toast?.id === id) set({ toast: undefined })
  },
}))
