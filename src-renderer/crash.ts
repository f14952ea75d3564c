import '@fontsource-variable/inter'
import '@fontsource-variable/jetbrains-mono'
import './styles/tokens.css'
import './styles/base.css'
import './styles/crash.css'
import { strings } from './strings/index.ts'

// What the views share may be what crashed: this page is made of plain elements and two calls.
const text = strings.crash
const report = decodeURIComponent(location.hash.slice(1))
const dark = matchMedia('(prefers-color-scheme: dark)').matches
document.documentElement.dataset['theme'] = dark ? 'dark' : 'light'

function element<K extends keyof HTMLElementTagNameMap>(tag: K, content: string): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag)
  made.textContent = content
  return made
}

function button(label: string, run: () => void): HTMLButtonElement {
  const made = element('button', label)
  made.type = 'button'
  made.addEventListener('click', run)
  return made
}

const details = element('pre', report)
details.className = 'selectable'
details.tabIndex = 0
details.setAttribute('aria-label', text.details)
const status = element('p', '')
status.setAttribute('role', 'status')

const copy = button(text.copy, () => {
  void window.anet.desktop['shell']?.['copyText']?.({ text: report }).then(() => {
    status.textContent = text.copied
  })
})
const again = button(text.again, () => location.assign('/index.html'))
again.className = 'primary'
const quit = button(text.quit, () => void window.anet.desktop['shell']?.['quit']?.({}))
const buttons = element('div', '')
buttons.append(quit, copy, again)

document
  .getElementById('crash')
  ?.append(element('h1', text.title), element('p', text.intro), details, element('p', text.redacted), buttons, status)
again.focus()
