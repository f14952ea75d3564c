import { expect, test } from 'vitest'
import {
  type Accounts,
  type Group,
  groupIsTrusted,
  type User,
} from '../../../src-main/node/modules/a2a/backends/accounts.ts'

const users: readonly User[] = [
  { name: 'root', uid: 0, primaryGid: 0 },
  { name: 'ann', uid: 1000, primaryGid: 1000 },
  { name: 'mallory', uid: 1001, primaryGid: 1001 },
  { name: 'guest', uid: 1002, primaryGid: 500 },
]
const groups: readonly Group[] = [
  { name: 'root', gid: 0, members: [] },
  { name: 'ann', gid: 1000, members: [] },
  { name: 'mallory', gid: 1001, members: [] },
  { name: 'staff', gid: 500, members: ['ann'] },
]

function accounts(change: readonly Group[] = []): Accounts {
  const all = [...change, ...groups]
  return {
    user: async (key) => users.find(({ name, uid }) => name === key || uid === key),
    group: async (key) => all.find(({ name, gid }) => name === key || gid === key),
    withPrimaryGroup: async (gid) => users.filter((user) => user.primaryGid === gid),
  }
}
const trusted = new Set([0, 1000])

test('the private group of a trusted user counts as the user', async () => {
  expect(await groupIsTrusted(accounts(), 1000, trusted, undefined)).toBe(true)
  expect(await groupIsTrusted(accounts(), 1001, trusted, undefined)).toBe(false)
})

test('a private group with a stranger in it does not', async () => {
  const changed = accounts([{ name: 'ann', gid: 1000, members: ['mallory'] }])
  expect(await groupIsTrusted(changed, 1000, trusted, undefined)).toBe(false)
})

test('a member that nobody knows is a stranger', async () => {
  const changed = accounts([{ name: 'ann', gid: 1000, members: ['ghost'] }])
  expect(await groupIsTrusted(changed, 1000, trusted, undefined)).toBe(false)
})

test("root's group is trusted while only root is in it", async () => {
  expect(await groupIsTrusted(accounts(), 0, trusted, undefined)).toBe(true)
  const changed = accounts([{ name: 'root', gid: 0, members: ['mallory'] }])
  expect(await groupIsTrusted(changed, 0, trusted, undefined)).toBe(false)
})

test('a shared group is trusted only when the operator names it', async () => {
  const staff = groups[3]
  expect(await groupIsTrusted(accounts(), 500, trusted, undefined)).toBe(false)
  expect(await groupIsTrusted(accounts(), 500, trusted, staff)).toBe(true)
  expect(await groupIsTrusted(accounts(), 4242, trusted, staff)).toBe(false)
})
