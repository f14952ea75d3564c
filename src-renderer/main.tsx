import '@fontsource-variable/inter'
import '@fontsource-variable/jetbrains-mono'
import './styles/tokens.css'
import './styles/base.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { z } from 'zod'
import { App } from './app.tsx'
import { subscribe } from './state/bridge.ts'
import { applyEvent, useMirror } from './state/mirror.ts'
import { useNavigation } from './state/navigation.ts'
import { queryClient } from './state/queries.ts'

// the page's policy forbids code from strings, and zod would try it
z.config({ jitless: true })

subscribe((event) => {
  if (event.type === 'go') useNavigation.getState().go(event.destination)
  else useMirror.setState((mirror) => applyEvent(mirror, event))
})

const root = document.getElementById('root')
if (root === null) throw new Error('The page has no root element.')
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
)
