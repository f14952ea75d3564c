import type { ReactElement } from 'react'
import { type NodeView, type ShellView, themes } from '@shared/contract/index.ts'
import { AidText } from '../../components/aid.tsx'
import { Button } from '../../components/button.tsx'
import { Segmented } from '../../components/segmented.tsx'
import { desktop } from '../../state/bridge.ts'
import { strings } from '../../strings/index.ts'
import classes from './settings-view.module.css'

export function LookSection({ shell }: { readonly shell: ShellView }): ReactElement {
  const text = strings.settings.look
  return (
    <>
      <p className={classes['intro']}>{text.intro}</p>
      <Segmented
        label={text.theme}
        options={themes}
        names={text.themes}
        value={shell.theme}
        onValue={(theme) => void desktop.shell.setTheme({ theme })}
      />
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
