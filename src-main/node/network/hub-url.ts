import { AnetError } from '@shared/errors.ts'

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/**
 * The origin of a hub's address, for example `https://hub.example`. Errors: `hub_url_invalid`; plain http anywhere but
 * on this computer is `hub_needs_https`.
 */
export function hubOrigin(text: string): string {
  let url: URL
  try {
    url = new URL(text)
  } catch (cause) {
    throw new AnetError('hub_url_invalid', `"${text.slice(0, 200)}" is not the address of a hub.`, {
      remedy: 'Give an address such as https://hub.example.',
      cause,
    })
  }
  const bare =
    url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '' && url.password === ''
  if ((url.protocol !== 'https:' && url.protocol !== 'http:') || !bare) {
    throw new AnetError('hub_url_invalid', `"${text.slice(0, 200)}" is not the address of a hub.`, {
      remedy: 'Give scheme, host and port only, such as https://hub.example.',
    })
  }
  if (url.protocol === 'http:' && !loopback.test(url.hostname)) {
    throw new AnetError('hub_needs_https', `The hub ${url.host} can be reached over https only.`, {
      remedy: `Use https://${url.host}; plain http is for a hub on this computer.`,
    })
  }
  return url.origin
}
