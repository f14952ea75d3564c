import { readFile } from 'node:fs/promises'
import { extname, join, normalize, sep } from 'node:path'
import { app, protocol, type Session } from 'electron'

/** The development server's page is trusted in an unpackaged run and nowhere else. */
const developmentUrl = app.isPackaged ? undefined : process.env['ELECTRON_RENDERER_URL']

/** The only origin whose page may talk to the main process. */
export const trustedOrigin = developmentUrl === undefined ? 'app://ui' : new URL(developmentUrl).origin
export const startUrl = `${trustedOrigin}/index.html`

/** The page that is shown instead of one that crashes again and again. The report stays in the fragment. */
export function crashUrl(report: string): string {
  return `${trustedOrigin}/crash.html#${encodeURIComponent(report)}`
}

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'none'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

const mediaTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
}

/** Must run before the app is ready. */
export function registerScheme(): void {
  protocol.registerSchemesAsPrivileged([
    { scheme: 'app', privileges: { standard: true, secure: true, supportFetchAPI: true, codeCache: true } },
  ])
}

/** Serves the built page from `root` at app://ui: GET only, one host, nothing outside the folder. */
export function servePage(session: Session, root: string): void {
  session.protocol.handle('app', async (request) => {
    const url = new URL(request.url)
    if (request.method !== 'GET' || url.host !== 'ui') return answer(405)
    const file = pathOf(root, url.pathname)
    if (file === undefined) return answer(403)
    try {
      return answer(200, await readFile(file), mediaTypes[extname(file)])
    } catch {
      return answer(404)
    }
  })
}

function pathOf(root: string, pathname: string): string | undefined {
  try {
    const path = normalize(join(root, decodeURIComponent(pathname)))
    return path.startsWith(root + sep) ? path : undefined
  } catch {
    return undefined
  }
}

function answer(status: number, body?: Uint8Array, mediaType = 'application/octet-stream'): Response {
  return new Response(body === undefined ? null : new Uint8Array(body), {
    status,
    headers: {
      'content-type': mediaType,
      'content-security-policy': contentSecurityPolicy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    },
  })
}

/** The page fetches nothing: every request but those of its own files is cancelled, every permission refused. */
export function lockDownSession(session: Session): void {
  const allowed = [
    'app://ui/',
    ...(developmentUrl === undefined ? [] : [`${trustedOrigin}/`, `${trustedOrigin.replace('http', 'ws')}/`]),
  ]
  if (!app.isPackaged) allowed.push('devtools://')
  session.webRequest.onBeforeRequest((details, decide) =>
    decide({ cancel: !allowed.some((prefix) => details.url.startsWith(prefix)) }),
  )
  session.setPermissionRequestHandler((_contents, _permission, decide) => decide(false))
  session.setPermissionCheckHandler(() => false)
  session.setDevicePermissionHandler(() => false)
}
