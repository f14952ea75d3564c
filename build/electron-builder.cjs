// What the package holds and how it is fused. build/package.mjs adds the Electron to take.
const { join } = require('node:path')

const platform = process.env.ANET_PACKAGE_PLATFORM || process.platform
const arch = process.env.ANET_PACKAGE_ARCH || process.arch

/** Files of native modules for other platforms, and what only their own builds need. */
const unwanted = [
  '!**/node_modules/*/{README.md,CHANGELOG.md,SECURITY.md,binding.gyp,*.d.ts}',
  '!**/node_modules/@photostructure/sqlite/{src,scripts,README.md,CHANGELOG.md,SECURITY.md,binding.gyp}',
  '!**/node_modules/@photostructure/sqlite/dist/**/*.{d.ts,d.mts,d.cts,map}',
  '!**/node_modules/keytar/{src,script}',
  '!**/node_modules/koffi/{src,doc,vendor,lib}',
  '!**/node_modules/{node-addon-api,node-gyp-build}/**/*.md',
  '!**/node_modules/node-addon-api',
  `!**/node_modules/{keytar,@photostructure/sqlite}/prebuilds/!(${platform}-${arch})`,
  `!**/node_modules/@koromix/*/!(${platform === 'linux' ? 'linux' : platform}_${arch}|*.js|package.json)`,
]

module.exports = {
  appId: 'eu.anet.desktop',
  productName: 'ANet',
  directories: { output: 'dist', buildResources: 'build/resources' },
  files: ['out/**', '!out/**/*.map', 'package.json', ...unwanted],
  asar: true,
  // native code is mapped by the system's loader, which knows no archive
  asarUnpack: ['**/*.node'],
  npmRebuild: false,
  nodeGypRebuild: false,
  publish: null,
  electronLanguages: ['en-US'],
  electronFuses: {
    runAsNode: false,
    enableNodeOptionsEnvironmentVariable: false,
    enableNodeCliInspectArguments: false,
    onlyLoadAppFromAsar: true,
    enableEmbeddedAsarIntegrityValidation: true,
    enableCookieEncryption: true,
    grantFileProtocolExtraPrivileges: false,
    loadBrowserProcessSpecificV8Snapshot: false,
  },
  linux: {
    executableName: 'anet-desktop',
    category: 'Network',
    icon: 'build/resources/icon.png',
    target: 'dir',
  },
  mac: {
    category: 'public.app-category.developer-tools',
    icon: 'build/resources/icon.png',
    hardenedRuntime: true,
    target: ['dmg', 'zip'],
  },
  win: { icon: 'build/resources/icon.png', executableName: 'anet-desktop', target: 'nsis' },
  nsis: { oneClick: false, perMachine: false },
  afterPack: async (context) => {
    const { finishPackage } = await import('./package-contents.mjs')
    await finishPackage(context.appOutDir, context.electronPlatformName, join(__dirname, 'package'))
  },
}
