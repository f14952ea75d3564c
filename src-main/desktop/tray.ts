import { fileURLToPath } from 'node:url'
import { Menu, type MenuItemConstructorOptions, nativeImage, type NativeImage, nativeTheme, Tray } from 'electron'
import type { TrayAction, TrayEntry, TrayIcon, TrayModel } from './tray-model.ts'

export interface TrayController {
  update(model: TrayModel): void
  destroy(): void
}

/** Shows the model. The menu is built anew at each change: on Linux an entry cannot be changed in place. */
export function createTray(model: TrayModel, act: (action: TrayAction) => void): TrayController {
  const tray = new Tray(iconImage(model.icon))
  let shown = ''
  const update = (next: TrayModel): void => {
    const key = JSON.stringify(next)
    if (key === shown) return
    shown = key
    tray.setImage(iconImage(next.icon))
    tray.setToolTip(next.tooltip)
    tray.setContextMenu(Menu.buildFromTemplate(next.menu.map((entry) => menuItem(entry, act))))
  }
  tray.on('click', () => act('open'))
  update(model)
  return { update, destroy: () => tray.destroy() }
}

function menuItem(entry: TrayEntry, act: (action: TrayAction) => void): MenuItemConstructorOptions {
  switch (entry.kind) {
    case 'separator':
      return { type: 'separator' }
    case 'status':
      return { label: escapeMnemonic(entry.label), enabled: false }
    case 'action':
      return { label: escapeMnemonic(entry.label), enabled: entry.enabled, click: () => act(entry.action) }
  }
}

/** "&" would mark a letter of a hub's or a program's name as the shortcut. */
function escapeMnemonic(label: string): string {
  return label.replaceAll('&', '&&')
}

function iconImage(icon: TrayIcon): NativeImage {
  const file = fileURLToPath(new URL(`../resources/tray-${icon}-${variant()}.png`, import.meta.url))
  const image = nativeImage.createFromPath(file)
  if (process.platform === 'darwin') image.setTemplateImage(true)
  return image
}

/** macOS colours a template image itself. On Linux the top bars of GNOME are dark in every theme. */
function variant(): string {
  if (process.platform === 'darwin') return '16'
  const darkPanel = /gnome|unity/i.test(process.env['XDG_CURRENT_DESKTOP'] ?? '') || nativeTheme.shouldUseDarkColors
  return process.platform === 'linux' && darkPanel ? '22-white' : '22'
}
