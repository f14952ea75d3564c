import { Paperclip, X } from 'lucide-react'
import type { ReactElement } from 'react'
import { Button } from '../../components/button.tsx'
import { strings } from '../../strings/index.ts'
import classes from './file-list.module.css'
import type { ChosenFiles } from './use-files.ts'

/** The chosen files by name; each can be taken out again. */
export function FileList({ files }: { readonly files: ChosenFiles }): ReactElement {
  const text = strings.send
  return (
    <div className={classes['files']}>
      {files.paths.map((path) => {
        const name = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
        return (
          <span key={path} className={classes['file']} title={path}>
            {name}
            <button type="button" aria-label={text.remove(name)} onClick={() => files.remove(path)}>
              <X aria-hidden />
            </button>
          </span>
        )
      })}
      <Button icon={<Paperclip aria-hidden />} onClick={files.add}>
        {text.addFiles}
      </Button>
    </div>
  )
}
