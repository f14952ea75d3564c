import type { StoredArtifact, StoredMessage, TaskEntry } from './types.ts'

/** What the entries of a task add up to. */
export interface Contents {
  /** The message of the newest status. */
  readonly statusMessage: StoredMessage | undefined
  readonly history: readonly StoredMessage[]
  readonly artifacts: readonly StoredArtifact[]
}

export const noContents: Contents = { statusMessage: undefined, history: [], artifacts: [] }

/**
 * Adds an entry. The message of a status is the status's own while it is the newest word on the task; it moves into
 * the history when the next status or message comes, so that nothing stands in both places (A2A 1.0, Task.history).
 */
export function applyEntry(contents: Contents, entry: TaskEntry): Contents {
  switch (entry.kind) {
    case 'message':
      return { ...contents, statusMessage: undefined, history: [...historyWithStatus(contents), entry.message] }
    case 'status':
      return { ...contents, statusMessage: entry.status.message, history: historyWithStatus(contents) }
    case 'artifact':
      return { ...contents, artifacts: withArtifact(contents.artifacts, entry.artifact, entry.append) }
    case 'cancel':
      return contents
  }
}

/** Characters that an entry adds to the memory of an assembled task, roughly. */
export function weightOf(entry: TaskEntry): number {
  const holder = entry.kind === 'status' ? entry.status.message : entry.kind === 'cancel' ? undefined : holderOf(entry)
  const parts = holder?.parts ?? []
  return parts.reduce((sum, part) => sum + 256 + ('large' in part ? 0 : (part.text ?? part.raw ?? '').length), 256)
}

function holderOf(entry: TaskEntry & { kind: 'message' | 'artifact' }): StoredMessage | StoredArtifact {
  return entry.kind === 'message' ? entry.message : entry.artifact
}

function historyWithStatus({ history, statusMessage }: Contents): readonly StoredMessage[] {
  return statusMessage === undefined ? history : [...history, statusMessage]
}

/**
 * A2A 1.0, TaskArtifactUpdateEvent: `append` adds the parts to the artifact of that id, otherwise the artifact takes its
 * place. What cannot be appended to anything stands for itself. The place in the list stays.
 */
function withArtifact(
  artifacts: readonly StoredArtifact[],
  artifact: StoredArtifact,
  append: boolean,
): readonly StoredArtifact[] {
  const index = artifacts.findIndex(({ artifactId }) => artifactId === artifact.artifactId)
  const known = artifacts[index]
  if (known === undefined) return [...artifacts, artifact]
  return artifacts.with(
    index,
    append ? { ...known, ...artifact, parts: [...known.parts, ...artifact.parts] } : artifact,
  )
}
