import type { ReactElement } from 'react'
import { type NodeView, type ShellView, themes } from '@shared/contract/index.ts'
import { AidText } from '../../components/aid.tsx'
import { Button } from '../../components/button.tsx'
import { desktop } from '../../state/bridge.ts'
import { strings } from '../../strings/index.ts'
import classes from './settings-view.module.css'

export function LookSection({ shell }: { readonly shell: ShellView }): ReactElement {
  const text = strings.settings.look
  return (
    <>
      <p className={classes['intro']}>{text.intro}</p>
      <div role="radiogroup" aria-label={text.theme} className={classes['choices']}>
        {themes.map((theme) => (
          <label key={theme} data-selected={shell.theme === theme}>
            <input
              type="radio"
              className="visually-hidden"
              name="theme"
              checked={shell.theme === theme}
              onChange={() => void desktop.shell.setTheme({ theme })}
            />
            {text.themes[theme]}
          </label>
        ))}
      </div>
    </>
  )
}

export function DataSection({ shell, node }: { readonly shell: ShellView; readonly node: NodeView }): ReactElement {
  const text = strings.settings.data
  return (
    <>
      <p className={classes['intro']}>{text.intro}</p>
      <dl className={classes['facts']}>
        <dt>{text.folder}</dt>
        <dd>
          <code className="selectable">{shell.dataDir}</code>
        </dd>
        <dt>{text.store}</dt>
        <dd>{text.stores[node.secretStore]}</dd>
        <dt>{text.aid}</dt>
        <dd>
          <AidText aid={node.aid} copy />
        </dd>
      </dl>
    </>
  )
}

export function AboutSection({ node }: { readonly node: NodeView }): ReactElement {
  const text = strings.settings.about
  return (
    <>
      <dl className={classes['facts']}>
        <dt>{text.version}</dt>
        <dd>{node.version}</dd>
        <dt>{text.process}</dt>
        <dd>
          {node.pid}, {text.kinds[node.kind]}
        </dd>
      </dl>
      <Button onClick={() => void desktop.shell.quit({})}>{text.quit}</Button>
    </>
  )
}
