import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { headers } from '../../helpers/cursor.ts'
import { fillStore } from '../../helpers/fill-store.ts'
import { getJson, getStatus, untilReady, Workplace } from '../../helpers/spawn-cursordex.ts'
import { waitUntil } from '../../helpers/wait-until.ts'
import { watchedInodes } from '../../helpers/watched-inodes.ts'

const MANY = 4000

let place: Workplace
beforeEach(() => {
  place = new Workplace()
})
afterEach(() => place.remove())

test('four thousand workspaces without a store made the daemon ready after 39 seconds', async () => {
  const store = place.cursor.global()
  fillStore(store, { chats: 1, messagesPerChat: 2 })
  for (let index = 0; index < MANY; index += 1) {
    mkdirSync(join(place.cursor.userDir, 'workspaceStorage', `quiet${index}`), { recursive: true })
  }
  const { daemon, url } = await place.serve()
  const { sources } = await untilReady(url)
  // Each source is an order to the writer, and a row of the mirror.
  expect(sources.filter(({ kind }) => kind === 'workspace-items')).toEqual([])
  const watched = process.platform === 'linux' ? watchedInodes(daemon.pid) : []
  expect(watched.length).toBeLessThan(20)
  store.message('live', 'new', { type: 1, text: 'the persimmon harvest', createdAt: new Date().toISOString() })
  store.chat('live', { name: 'Live chat', fullConversationHeadersOnly: headers(['new']) })
  const found = async (): Promise<boolean> =>
    (await getJson<{ total: number }>(url, '/api/search?q=persimmon')).total === 1
  await waitUntil('the hit', found, { withinMs: 30_000 })
  const { path } = place.cursor.workspace(`quiet${MANY - 1}`, { folder: 'file:///home/ada/shop' }, ['live'])
  const isRead = async (): Promise<boolean> =>
    (await getStatus(url)).sources.some((source) => source.path === path && source.state === 'ok')
  await waitUntil('the store of a workspace', isRead, { withinMs: 30_000 })
})
