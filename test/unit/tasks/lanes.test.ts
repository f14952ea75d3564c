import { describe, expect, it } from 'vitest'
import { Lanes } from '../../../src-main/node/tasks/lanes.ts'

describe('lanes', () => {
  it('run work of one name in order and other work beside it', async () => {
    const lanes = new Lanes()
    const done: string[] = []
    let finish = (): void => {}
    const slow = lanes.run('a', () => new Promise<void>((resolve) => (finish = resolve)).then(() => done.push('slow')))
    const next = lanes.run('a', async () => done.push('next'))
    await lanes.run('b', async () => done.push('other'))
    finish()
    await Promise.all([slow, next])
    expect(done).toEqual(['other', 'slow', 'next'])
    await lanes.idle()
  })

  it('go on after work that failed, and give the failure to whoever handed it in', async () => {
    const lanes = new Lanes()
    const failing = lanes.run('a', () => Promise.reject(new Error('no')))
    const next = lanes.run('a', async () => 'fine')
    await expect(failing).rejects.toThrow('no')
    await expect(next).resolves.toBe('fine')
  })
})
