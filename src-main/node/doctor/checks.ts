import { lstat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { CheckView, JoinStateView } from '@shared/contract/index.ts'
import { AnetError } from '@shared/errors.ts'
import { loadConfig } from '../config/index.ts'
import { describeSecrets, type SecretStoreKind } from '../secrets/index.ts'

const MiB = 1024 * 1024

/** A check from the outcome of trying: an {@link AnetError} is a failure with its remedy. */
export async function attempt(name: string, work: () => Promise<Omit<CheckView, 'name'>>): Promise<CheckView> {
  try {
    return { name, ...(await work()) }
  } catch (error) {
    if (error instanceof AnetError) {
      return { name, outcome: 'fail', seen: error.message, remedy: error.remedy ?? null }
    }
    const code = (error as NodeJS.ErrnoException).code ?? 'an unexpected error'
    return { name, outcome: 'fail', seen: `could not be checked (${code})`, remedy: null }
  }
}

/** The data directory and what lies in it belong to this user alone (spec/architecture.md, Data directory). */
export function dataDirCheck(dataDir: string): Promise<CheckView> {
  return attempt('data directory', async () => {
    const stat = await lstat(dataDir).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    })
    if (stat === undefined) return fail(`${dataDir} is not there`, 'Create an identity with "anet init".')
    if (!stat.isDirectory())
      return fail(`${dataDir} is not a directory`, 'Move it away, or choose another with ANET_DATA_DIR.')
    const own = process.getuid?.()
    if (own !== undefined && stat.uid !== own)
      return fail(`${dataDir} belongs to another user`, 'Choose another with ANET_DATA_DIR.')
    if ((stat.mode & 0o077) !== 0 && process.platform !== 'win32') {
      return fail(`others can enter ${dataDir} (mode ${(stat.mode & 0o777).toString(8)})`, `chmod 700 '${dataDir}'`)
    }
    const open: string[] = []
    for (const name of ['config.json', 'node.db', 'control_token.txt', 'keys/keys.sealed']) {
      const file = await lstat(join(dataDir, name)).catch(() => undefined)
      if (file !== undefined && ((file.mode & 0o077) !== 0 || !file.isFile())) open.push(name)
    }
    if (open.length > 0 && process.platform !== 'win32') {
      return fail(`not private: ${open.join(', ')}`, `cd '${dataDir}' && chmod 600 ${open.join(' ')}`)
    }
    return ok(dataDir)
  })
}

export function configCheck(dataDir: string): Promise<CheckView> {
  return attempt('config', async () => {
    const config = await loadConfig(dataDir)
    const { trust, allow, deny } = config.peers
    return ok(
      `inbound ${config.inbound.policy}; ${trust.length} trusted, ${allow.length} allowed, ${deny.length} denied; ${config.skills.length} skills`,
    )
  })
}

/** Where the wrapping key lives; a file is a standing warning. */
export function secretStoreCheck(dataDir: string): Promise<CheckView> {
  return attempt('secret store', async () => {
    const secrets = await describeSecrets(dataDir)
    if (secrets === undefined) return fail('this node has no identity yet', 'Create one with "anet init".')
    return secretStoreOutcome(secrets.kind)
  })
}

function secretStoreOutcome(kind: SecretStoreKind): Omit<CheckView, 'name'> {
  if (kind !== 'file') return ok(kind)
  return {
    outcome: 'warn',
    seen: 'file: the key lies unprotected in the data directory; anyone who can read your files can act as you',
    remedy: 'Protect the account and its backups; a new node can choose "keychain" or "passphrase".',
  }
}

export function diskCheck(dataDir: string): Promise<CheckView> {
  return attempt('disk space', async () => {
    const { bavail, bsize } = await statfs(dataDir)
    const free = Math.floor((Number(bavail) * Number(bsize)) / MiB)
    const seen = `${free} MiB free`
    if (free < 64) return fail(seen, 'Free some space: the node cannot keep what it receives.')
    if (free < 1024) return { outcome: 'warn', seen, remedy: 'Free some space before it runs out.' }
    return ok(seen)
  })
}

/** Where the node stands with its hub. No hub yet, and what passes by itself, is a warning. */
export function hubCheck(join: JoinStateView): CheckView {
  const { outcome, remedy } = hubOutcomes[join.state]
  const seen = join.hub === null ? join.sentence : `${join.hub.url}: ${join.sentence}`
  return { name: 'hub', outcome, seen, remedy }
}

const hubOutcomes: Readonly<Record<JoinStateView['state'], Pick<CheckView, 'outcome' | 'remedy'>>> = {
  joined: { outcome: 'ok', remedy: null },
  no_hub: { outcome: 'warn', remedy: 'Join one with "anet join URL".' },
  joining: { outcome: 'warn', remedy: null },
  waiting_for_admission: { outcome: 'warn', remedy: 'Ask the operator of the hub to admit this node.' },
  hub_unreachable: { outcome: 'warn', remedy: 'Check the network; the node goes on trying.' },
  refused: { outcome: 'fail', remedy: 'Ask the operator of the hub, or join another one.' },
  removed: { outcome: 'fail', remedy: 'Ask the operator of the hub, or join another one.' },
  running_elsewhere: { outcome: 'fail', remedy: 'Stop the other node with this identity, then restart this one.' },
}

export function ok(seen: string): Omit<CheckView, 'name'> {
  return { outcome: 'ok', seen, remedy: null }
}

export function fail(seen: string, remedy: string): Omit<CheckView, 'name'> {
  return { outcome: 'fail', seen, remedy }
}
