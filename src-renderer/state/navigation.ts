import { create } from 'zustand'
import type { Destination } from '@shared/contract/index.ts'

/** Where the window is. Only the page writes to it; the shell asks by a `go` event. */
interface Navigation {
  readonly destination: Destination
  readonly go: (destination: Destination) => void
}

export const useNavigation = create<Navigation>((set) => ({
  destination: { view: 'overview' },
  go: (destination) => set({ destination }),
}))
