import { FolderOpen } from 'lucide-react'
import { type ReactElement, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { ViewFrame } from '../../components/view-frame.tsx'
import { desktop } from '../../state/bridge.ts'
import { useMirror } from '../../state/mirror.ts'
import { strings } from '../../strings/index.ts'
import { AboutSection, DataSection, LookSection } from './computer-sections.tsx'
import { DoctorSection } from './doctor-section.tsx'
import { HubSection } from './hub-section.tsx'
import classes from './settings-view.module.css'

const sections = ['hub', 'doctor', 'look', 'data', 'about'] as const
type Section = (typeof sections)[number]

export function SettingsView(): ReactElement | null {
  const text = strings.settings
  const shell = useMirror((mirror) => mirror.shell)
  const node = useMirror((mirror) => mirror.node)
  const [section, setSection] = useState<Section>('hub')
  if (shell === undefined || node === undefined) return null
  return (
    <ViewFrame
      title={text.title}
      actions={
        <Button variant="ghost" icon={<FolderOpen aria-hidden />} onClick={() => void desktop.shell.openDataFolder({})}>
          {text.openFolder}
        </Button>
      }
    >
      <nav className={classes['menu']} aria-label={text.menu}>
        {sections.map((name) => (
          <button key={name} type="button" aria-current={section === name} onClick={() => setSection(name)}>
            {text.sections[name]}
          </button>
        ))}
      </nav>
      <div className={classes['content']}>
        <h2>{text.sections[section]}</h2>
        {section === 'hub' && <HubSection shell={shell} node={node} />}
        {section === 'doctor' && <DoctorSection />}
        {section === 'look' && <LookSection shell={shell} />}
        {section === 'data' && <DataSection shell={shell} node={node} />}
        {section === 'about' && <AboutSection node={node} />}
      </div>
    </ViewFrame>
  )
}
