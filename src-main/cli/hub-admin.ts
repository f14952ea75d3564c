import { join } from 'node:path'
import { z } from 'zod'
import { AnetError } from '@shared/errors.ts'
import { readPrivateFile } from '../node/data-dir/index.ts'

/** What the admin listener of a hub answers (src-hub/admin). */
export const inviteSchema = z.object({ invite: z.string(), hub: z.string(), expiresAt: z.number() })
export const hubStatusSchema = z.object({
  aid: z.string(),
  name: z.string(),
  policy: z.string(),
  sessions: z.number(),
  members: z.number(),
  waiting: z.number(),
  removed: z.number(),
  messages: z.number(),
  bytes: z.number(),
})
const errorSchema = z.object({ error: z.object({ code: z.string(), message: z.string() }) })

/** URL of the hub that runs on a directory. Error: `hub_not_running`. */
export async function hubAddress(dataDir: string): Promise<string> {
  return readLine(dataDir, 'hub_addr.txt')
}

/** Asks the admin listener of the hub that runs on a directory, with the token that lies there. */
export async function callHubAdmin(
  dataDir: string,
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
): Promise<unknown> {
  const [url, token] = await Promise.all([
    readLine(dataDir, 'hub_admin_addr.txt'),
    readLine(dataDir, 'hub_admin_token.txt'),
  ])
  // the token goes to this machine only, whatever the file says
  if (!/^http:\/\/127\.0\.0\.1:\d{1,5}$/.test(url)) throw notRunning(dataDir)
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch(() => {
    throw notRunning(dataDir)
  })
  const answer: unknown = await response.json()
  if (response.ok) return answer
  const { error } = errorSchema.parse(answer)
  throw new AnetError(error.code, error.message)
}

async function readLine(dataDir: string, name: string): Promise<string> {
  const bytes = await readPrivateFile(join(dataDir, name), { maxBytes: 1024 })
  if (bytes === undefined) throw notRunning(dataDir)
  return bytes.toString('utf8').trim()
}

function notRunning(dataDir: string): AnetError {
  return new AnetError('hub_not_running', `No hub runs on ${dataDir}.`, {
    remedy: `Start one with "anet hub run --data ${dataDir}".`,
  })
}
