import { Paperclip, X } from 'lucide-react'
import type { ReactElement } from 'react'
import { Button } from '../../components/button.tsx'
import { strings } from '../../strings/index.ts'
import classes from './file-list.module.css'

export interface FileListProps {
  readonly files: readonly string[]
  readonly onAdd: () => void
  readonly onRemove: (path: string) => void
}

/** The chosen files by name; each can be taken out again. */
export function FileList({ files, onAdd, onRemove }: FileListProps): ReactElement {
  const text = strings.send
  return (
    <div className={classes['files']}>
      {files.map((path) => {
        const name = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1)
        return (
          <span key={path} className={classes['file']} title={path}>
            {name}
            <button type="button" aria-label={text.remove(name)} onClick={() => onRemove(path)}>
              <X aria-hidden />
            </button>
          </span>
        )
      })}
      <Button icon={<Paperclip aria-hidden />} onClick={onAdd}>
        {text.addFiles}
      </Button>
    </div>
  )
}
