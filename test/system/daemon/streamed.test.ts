import { afterEach, beforeEach, expect, test } from 'vitest'
import { mirrorPath } from '../../../src/engine/data-folder.ts'
import { openReader } from '../../../src/mirror/open.ts'
import { headers, type Store } from '../../helpers/cursor.ts'
import { fillStore } from '../../helpers/fill-store.ts'
import { getJson, untilReady, Workplace } from '../../helpers/spawn-cursordex.ts'
import { pause, waitUntil } from '../../helpers/wait-until.ts'

const REWRITES = 200

let place: Workplace
beforeEach(() => {
  place = new Workplace()
})
afterEach(() => place.remove())

interface Found {
  readonly total: number
  readonly items: readonly { readonly message: { readonly id: string }; readonly snippet: string }[]
  readonly warnings: readonly string[]
}

/** A word that only this version of the answer contains. */
const draftWord = (version: number): string =>
  `quillwort${Array.from(String(version), (digit) => 'abcdefghij'.charAt(Number(digit))).join('')}`

/** Writes as Cursor does while it streams: it deletes and inserts the row under its key, and the chat's row too. */
function stream(store: Store, text: string): void {
  store.db.transaction(() => {
    store.delete('bubbleId:live:answer')
    store.message('live', 'answer', { type: 2, text, createdAt: '2026-03-01T10:00:00.000Z' })
    store.chat('live', { name: 'Live chat', fullConversationHeadersOnly: headers(['answer']) })
  })()
}

test('after 200 rewrites of a streamed message there is one hit, with its last text', async () => {
  const store = place.cursor.global()
  fillStore(store, { chats: 20, messagesPerChat: 10 })
  const { url } = await place.serve()
  const before = await untilReady(url)
  const search = (q: string): Promise<Found> =>
    getJson<Found>(url, `/api/search?q=${encodeURIComponent(q)}&limit=200&literal=true`)

  const said: string[] = []
  for (let version = 1; version <= REWRITES; version += 1) {
    said.push(`part${version}`)
    stream(store, `The answer so far: ${said.join(' ')} ${draftWord(version)}`)
    await pause(15 + ((version * 37) % 40))
  }
  await waitUntil('the last text', async () => ((await search(draftWord(REWRITES))).total === 1 ? true : null))

  const last = await search(`"part${REWRITES} ${draftWord(REWRITES)}"`)
  expect(last.items.map(({ message }) => message.id)).toEqual(['answer'])
  expect(last.items[0]?.snippet).toContain(`<mark>${draftWord(REWRITES)}</mark>`)
  for (const q of ['answer so far', 'quillwort*', '*uillwor*', '"part 1 part 2"']) {
    expect([q, (await search(q)).total]).toEqual([q, 1])
  }
  const stale = Array.from({ length: REWRITES - 1 }, (_, index) => draftWord(index + 1))
  const found = await Promise.all(stale.map(async (word) => (await search(word)).total))
  expect(found.filter((total) => total > 0)).toEqual([])
  expect((await untilReady(url)).counts['messages']).toBe((before.counts['messages'] ?? 0) + 1)
  expect(lookInside(place.dataDir)).toEqual({ rows: 1, isManySeen: true })
})

/** How many full-text rows contain any version, and whether the daemon saw intermediate versions. */
function lookInside(dataDir: string): { readonly rows: number; readonly isManySeen: boolean } {
  const mirror = openReader(mirrorPath(dataDir))
  const count = (sql: string): number => mirror.prepare<[], number>(sql).pluck().get() ?? 0
  const rows = count(`select count(*) from message_terms where message_terms match 'quillwort*'`)
  const words = count(`select count(*) from terms where term glob 'quillwort*'`)
  mirror.close()
  console.log(`of ${REWRITES} versions ${words} were indexed on their way, and ${rows} row is left`)
  return { rows, isManySeen: words > 10 }
}
