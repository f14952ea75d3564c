import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Part } from '@shared/a2a/index.ts'
import { configSchema } from '@shared/config/index.ts'
import type { StoredPart } from '../../../src-main/node/tasks/index.ts'
import { asking, delivered, saying, sending, type TaskNode, taskPair } from '../../helpers/task-node.ts'

const large = 300_000

function filled(node: TaskNode, parts: readonly StoredPart[] | undefined): Promise<Part[]> {
  return Promise.all((parts ?? []).map((part) => node.tasks.materialise(part)))
}

function files(node: TaskNode): string[] {
  return node.store.read.all<{ name: string }>('SELECT name FROM content_files').map(({ name }) => name)
}

describe('large content', () => {
  const parts: Part[] = [
    { text: 'small' },
    { raw: randomBytes(large).toString('base64'), filename: 'a.bin', mediaType: 'application/x', metadata: { k: 1 } },
    { text: 'é'.repeat(large) },
    { data: { list: Array.from({ length: 60_000 }, (_, index) => index / 2) } },
  ]

  it('lies in sealed files on both sides and is the same when it is read', async () => {
    const { between, requester, provider } = await taskPair()
    const { key } = await delivered(requester, provider, between, asking('', { parts }))
    for (const node of [requester, provider]) {
      const stored = node.tasks.get(key)?.history[0]?.parts
      expect(stored?.[0]).toEqual({ text: 'small' })
      expect(stored?.[1]).toMatchObject({
        large: { field: 'raw', file: { size: large } },
        filename: 'a.bin',
        mediaType: 'application/x',
        metadata: { k: 1 },
      })
      expect(await filled(node, stored)).toEqual(parts)
      expect(files(node)).toHaveLength(3)
    }
  })

  it('comes back as artifacts and in questions', async () => {
    const { between, requester, provider } = await taskPair()
    const { key } = await delivered(requester, provider, between)
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_WORKING', message: { ...saying(''), parts } })
    await provider.tasks.provider.artifact(key, {
      artifact: { artifactId: 'r', parts },
      append: false,
      lastChunk: true,
    })
    await between.idle()
    await requester.restart()
    const task = requester.tasks.get(key)
    expect(await filled(requester, task?.status.message?.parts)).toEqual(parts)
    expect(await filled(requester, task?.artifacts[0]?.parts)).toEqual(parts)
  })

  it('stays over restarts of both nodes', async () => {
    const { between, requester, provider } = await taskPair()
    const { key } = await delivered(requester, provider, between, asking('', { parts }))
    await requester.restart()
    await provider.restart()
    for (const node of [requester, provider]) {
      expect(await filled(node, node.tasks.get(key)?.history[0]?.parts)).toEqual(parts)
    }
  })

  it('of a thousand middling parts fits as well', async () => {
    const { between, requester, provider } = await taskPair()
    const many = Array.from({ length: 1000 }, (_, n) => ({ text: `${n} `.repeat(500) }))
    const { key } = await delivered(requester, provider, between, asking('', { parts: many }))
    for (const node of [requester, provider]) {
      await node.restart()
      const read = await filled(node, node.tasks.get(key)?.history[0]?.parts)
      expect(read.findIndex((part, index) => part.text !== many[index]?.text)).toBe(-1)
      expect(files(node).length).toBeLessThan(10)
    }
  })

  it.each([64, 229, 233, 255.6, 257])('of %s KiB is the same on both sides, in a row or in a file', async (KiB) => {
    const { between, requester, provider } = await taskPair()
    const raw = randomBytes(KiB * 1024).toString('base64')
    const { key } = await delivered(requester, provider, between, asking('', { parts: [{ raw }] }))
    for (const node of [requester, provider]) {
      const read = await filled(node, node.tasks.get(key)?.history[0]?.parts)
      // the content itself would make an unreadable message
      expect(read[0]?.raw === raw).toBe(true)
    }
    expect(files(requester)).toHaveLength(KiB < 230 ? 0 : 1)
    expect(files(provider)).toHaveLength(KiB < 256 ? 0 : 1)
  })

  it('of a stranger who is refused is never written', async () => {
    const { between, requester, provider } = await taskPair()
    provider.config = configSchema.parse({})
    await delivered(requester, provider, between, asking('', { parts }))
    expect(files(provider)).toEqual([])
    expect(await contentFiles(provider)).toEqual([])
  })

  it('of a message that is refused is removed', async () => {
    const { between, requester, provider } = await taskPair()
    const { key } = await delivered(requester, provider, between)
    between.hold()
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_COMPLETED' })
    await requester.tasks.send(sending(provider, asking('', { taskId: key.id, parts })))
    between.release()
    await between.idle()
    expect(provider.network.refused).toEqual(['task_terminal'])
    await provider.store.write(() => undefined)
    expect(files(provider)).toEqual([])
  })
})

describe('what people wrote', () => {
  it('is nowhere on the disk in the clear', async () => {
    const { between, requester, provider } = await taskPair()
    const canary = 'the heron stands in the reeds'
    const { key } = await delivered(requester, provider, between, asking(canary))
    await provider.tasks.provider.artifact(key, {
      artifact: { artifactId: canary, name: canary, parts: [{ text: canary }, { text: canary.repeat(20_000) }] },
      append: false,
      lastChunk: true,
    })
    await provider.tasks.provider.status(key, { state: 'TASK_STATE_FAILED', message: saying(canary) })
    await between.idle()
    for (const node of [requester, provider]) {
      const dataDir = (node.store as TaskNode['store'] & { dataDir: string }).dataDir
      const everything = await allBytes(dataDir)
      // the search finds what is there in the clear
      expect(everything.includes(key.id)).toBe(true)
      for (const form of [
        canary,
        Buffer.from(canary).toString('base64').slice(0, -4),
        Buffer.from(canary).toString('hex'),
      ]) {
        expect(everything.includes(form)).toBe(false)
      }
    }
  })
})

async function contentFiles(node: TaskNode): Promise<string[]> {
  const dataDir = (node.store as TaskNode['store'] & { dataDir: string }).dataDir
  const names = await readdir(dataDir, { recursive: true })
  return names.filter((name) => /[0-9a-f]{64}$/.test(name))
}

async function allBytes(folder: string): Promise<Buffer> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const read = entries.filter((entry) => entry.isFile()).map((entry) => readFile(join(entry.parentPath, entry.name)))
  return Buffer.concat(await Promise.all(read))
}
