import { createHash } from 'node:crypto'
import type { Artifact, Part } from '@shared/a2a/index.ts'

/**
 * Puts the pieces of a streamed reply together. Text that a backend appends piece by piece becomes one text part, so
 * that the requester gets the reply and not the way it was cut.
 */
export class Reply {
  readonly #artifacts = new Map<string, Artifact>()
  /** Digest of each artifact as it was last handed over; shared by the turns of a task, which repeat old artifacts. */
  readonly #delivered: Map<string, string>

  constructor(delivered: Map<string, string>) {
    this.#delivered = delivered
  }

  /** Adds a piece and returns the artifact as it is now. Parts are merged only where nothing but text differs. */
  add(update: { readonly artifact: Artifact; readonly append: boolean }): Artifact {
    const { artifact } = update
    const before = update.append ? this.#artifacts.get(artifact.artifactId) : undefined
    const whole: Artifact = {
      ...before,
      ...artifact,
      parts: mergeText([...(before?.parts ?? []), ...artifact.parts]),
    }
    this.#artifacts.set(artifact.artifactId, whole)
    return whole
  }

  /** What has not been handed over in its present form, in the order in which it began; text before files. */
  undelivered(): Artifact[] {
    const open = [...this.#artifacts.values()].filter(
      (artifact) => artifact.parts.length > 0 && this.#delivered.get(artifact.artifactId) !== digest(artifact),
    )
    return [...open.filter(isText), ...open.filter((artifact) => !isText(artifact))]
  }

  markDelivered(artifact: Artifact): void {
    this.#delivered.set(artifact.artifactId, digest(artifact))
  }

  get isEmpty(): boolean {
    return this.#artifacts.size === 0
  }
}

export function isText(artifact: Artifact): boolean {
  return artifact.parts.some((part) => part.text !== undefined)
}

function digest(artifact: Artifact): string {
  return createHash('sha256').update(JSON.stringify(artifact)).digest('base64')
}

function mergeText(parts: readonly Part[]): Part[] {
  const merged: Part[] = []
  for (const part of parts) {
    const last = merged.at(-1)
    if (last?.text !== undefined && part.text !== undefined && isPlain(last) && isPlain(part)) {
      merged[merged.length - 1] = { ...last, text: last.text + part.text }
    } else {
      merged.push(part)
    }
  }
  return merged
}

function isPlain(part: Part): boolean {
  return part.filename === undefined && part.metadata === undefined && (part.mediaType ?? 'text/plain') === 'text/plain'
}
