import { expect, test } from 'vitest'
import { headers, type Store } from '../../helpers/cursor.ts'
import { fillStore, wordOf } from '../../helpers/fill-store.ts'
import { getJson, untilReady, Workplace } from '../../helpers/spawn-cursordex.ts'
import { waitUntil } from '../../helpers/wait-until.ts'

interface Resources {
  readonly rssBytes: number
  readonly bytesRead: number
}

interface Told {
  readonly resources: Resources
  readonly mirror: { readonly bytes: number }
}

const statusOf = (url: string): Promise<Told> => getJson<Told>(url, '/api/status')

function say(store: Store, id: string, word: string): void {
  store.db.transaction(() => {
    store.message(`chat-${id}`, id, { type: 1, text: word, createdAt: new Date().toISOString() })
    store.chat(`chat-${id}`, { name: 'Live', fullConversationHeadersOnly: headers([id]) })
  })()
}

/** How many bytes the daemon reads for one new message, in a store with this many chats. */
async function bytesForOneMessage(chats: number): Promise<number> {
  const place = new Workplace()
  try {
    const store = place.cursor.global()
    fillStore(store, { chats, messagesPerChat: 20, textLength: 6000 })
    const { url } = await place.serve()
    await untilReady(url, 60_000)
    const before = (await statusOf(url)).resources.bytesRead
    say(store, 'one', wordOf(999, 1))
    const isFound = async (): Promise<boolean> =>
      (await getJson<{ total: number }>(url, `/api/search?q=${wordOf(999, 1)}`)).total === 1
    await waitUntil('the message', isFound)
    await untilReady(url)
    const { resources, mirror } = await statusOf(url)
    const { bytesRead, rssBytes } = resources
    const diskPerTextByte = mirror.bytes / (chats * 20 * 6000)
    console.log(
      `resources: ${chats * 20} messages, ${bytesRead - before} bytes read for a new one, ${Math.round(rssBytes / 1e6)} MB, ` +
        `${diskPerTextByte.toFixed(2)} bytes of disk for a byte of text`,
    )
    expect(rssBytes).toBeLessThan(700e6)
    expect(diskPerTextByte).toBeLessThan(6)
    return bytesRead - before
  } finally {
    await place.remove()
  }
}

test('a new message costs the same bytes in a store ten times as large', async () => {
  const small = await bytesForOneMessage(20)
  const large = await bytesForOneMessage(200)
  expect(small).toBeGreaterThan(0)
  expect(large).toBeLessThanOrEqual(small * 2)
  expect(large).toBeLessThan(20_000)
})
