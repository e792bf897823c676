import { copyFileSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Store } from '../../helpers/cursor.ts'
import { fillStore, wordOf } from '../../helpers/fill-store.ts'
import { placeWithLoss } from '../../helpers/place-with-loss.ts'
import { getJson, untilReady, type Workplace } from '../../helpers/spawn-cursordex.ts'
import { waitUntil } from '../../helpers/wait-until.ts'

let place: Workplace
let store: Store

beforeEach(async () => {
  ;({ place, store } = await placeWithLoss())
})

afterEach(() => place.remove())

const MOVED = 'was moved, removed or replaced while the daemon ran'
const mirror = (): string => join(place.dataDir, 'mirror.db')

interface Hits {
  readonly items: readonly { readonly message: { readonly id: string } }[]
}

async function untilFound(url: string, chat: number, message: number): Promise<void> {
  await waitUntil('the words to be found', async () => {
    const response = await fetch(`${url}/api/search?q=${wordOf(chat, message)}`)
    if (!response.ok) return false
    return ((await response.json()) as Hits).items.some(({ message: { id } }) => id === `m${chat}-${message}`)
  })
}

const messagesIn = (path: string): unknown => {
  const db = new Database(path, { readonly: true })
  try {
    return db.prepare('select count(*) from messages').pluck().get()
  } finally {
    db.close()
  }
}

test.runIf(process.platform !== 'win32')(
  'a daemon whose mirror was replaced by an older copy ends and says so, and the next one continues with that',
  async () => {
    const copy = join(place.root, 'copy.db')
    copyFileSync(mirror(), copy)
    const { daemon, url } = await place.serve()
    await untilReady(url)
    await untilFound(url, 1, 2)
    renameSync(copy, mirror())
    expect(await daemon.ended).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(MOVED) as string })
    const again = await place.serve()
    await untilReady(again.url)
    for (const message of [2, 3]) await untilFound(again.url, message - 1, message)
    await again.daemon.stop()
    expect(messagesIn(mirror())).toBe(24)
  },
)

test.runIf(process.platform !== 'win32')(
  'a mirror that was moved while it was written is complete at its new place',
  async () => {
    const { daemon, url } = await place.serve()
    await untilReady(url)
    fillStore(store, { chats: 5, messagesPerChat: 6 })
    await getJson(url, '/api/sync', { method: 'POST' })
    const elsewhere = join(place.root, 'kept.db')
    renameSync(mirror(), elsewhere)
    expect(await daemon.ended).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(MOVED) as string })
    expect(messagesIn(elsewhere)).toBe(30)
    expect(readdirSync(place.dataDir).filter((name) => name.startsWith('mirror-damaged'))).toEqual([])
  },
)
