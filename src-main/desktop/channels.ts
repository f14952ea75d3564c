/** IPC channels between the window's preload script and the main process. */
export function callChannel(method: string): string {
  return `anet:call:${method}`
}
export const eventChannel = 'anet:event'
export const subscribeChannel = 'anet:subscribe'
