// What Electron does with `electron <folder>`: the pinned runtime comes without it.
import { readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { app } from 'electron'

const argument = process.argv.slice(1).find((value) => !value.startsWith('-'))
if (argument === undefined) {
  process.stderr.write('usage: electron [flags] <application folder or script>\n')
  process.exit(64)
}

let entry = resolve(argument)
let root = dirname(entry)
if (statSync(entry).isDirectory()) {
  root = entry
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  app.setName(manifest.productName ?? manifest.name)
  app.setVersion(manifest.version)
  entry = join(root, manifest.main)
}
app.setAppPath(root)
await import(pathToFileURL(entry).href)
