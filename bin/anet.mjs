#!/usr/bin/env node
// The anet command. From a source tree it builds first when the output is missing or stale; in a package it just runs.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const at = (path) => new URL(`../${path}`, import.meta.url)
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`anet needs Node.js 20.19 or newer; this is ${process.versions.node}.\n`)
  process.exit(2)
}
if (existsSync(at('src-main/cli/index.ts'))) {
  const { ensureBuilt } = await import(at('build/output.mjs'))
  const problem = await ensureBuilt(fileURLToPath(at('')))
  if (problem !== undefined) {
    process.stderr.write(`${problem}\n`)
    process.exit(2)
  }
}
await import(at('out/cli/index.js'))
