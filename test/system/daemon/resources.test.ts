import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { headers, type Store } from '../../helpers/cursor.ts'
import { fillStore, wordOf } from '../../helpers/fill-store.ts'
import { getJson, untilReady, Workplace } from '../../helpers/spawn-cursordex.ts'
import { pause, waitUntil } from '../../helpers/wait-until.ts'

interface Resources {
  readonly rssBytes: number
  readonly bytesRead: number
  readonly bytesReadLastMinute: number
  readonly textBytes: number
  readonly diskPerTextByte: number | null
}

const resourcesOf = async (url: string): Promise<Resources> =>
  (await getJson<{ resources: Resources }>(url, '/api/status')).resources

/** The bytes that the process read from files and sockets. NaN if the system does not report it. */
const askedOf = (pid: number): number =>
  process.platform === 'linux'
    ? Number(/^rchar: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1] ?? Number.NaN)
    : Number.NaN

/** Waits until the daemon is at rest and has counted all tokens. */
const untilCounted = (url: string): Promise<unknown> =>
  waitUntil(
    'all tokens to be estimated',
    async () => (await getJson<{ estimation: { state: string } }>(url, '/api/status')).estimation.state === 'done',
    { withinMs: 180_000 },
  )

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
    const before = (await resourcesOf(url)).bytesRead
    say(store, 'one', wordOf(999, 1))
    const isFound = async (): Promise<boolean> =>
      (await getJson<{ total: number }>(url, `/api/search?q=${wordOf(999, 1)}`)).total === 1
    await waitUntil('the message', isFound)
    await untilReady(url)
    const { bytesRead, rssBytes, textBytes, diskPerTextByte } = await resourcesOf(url)
    // The texts of `fillStore`, and the JSON around them.
    expect(textBytes / (chats * 20 * 6000)).toBeCloseTo(1, 1)
    console.log(
      `resources: ${chats * 20} messages, ${bytesRead - before} bytes read for a new one, ${Math.round(rssBytes / 1e6)} MB, ` +
        `${diskPerTextByte} bytes of disk for a byte of text`,
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

test('a store that does not change is not read, and hardly anything else is', async () => {
  const QUIET_MS = 12_000
  // Reading every value of the store would be 6 MB.
  const ASKED_MAX = 200_000
  const place = new Workplace()
  try {
    fillStore(place.cursor.global(), { chats: 50, messagesPerChat: 20, textLength: 6000 })
    const { daemon, url } = await place.serve()
    await untilReady(url)
    await untilCounted(url)
    // After a start all keys are compared at the next full ten minutes. That must not happen during the measurement below.
    await getJson(url, '/api/sync', { method: 'POST' })
    await pause(1000)
    const before = await resourcesOf(url)
    let asked = Infinity
    // On a busy machine the checkpoint of the first pass may fall into the first interval.
    for (let span = 0; span < 3 && asked >= ASKED_MAX; span += 1) {
      const askedBefore = askedOf(daemon.pid)
      await pause(QUIET_MS)
      asked = askedOf(daemon.pid) - askedBefore
    }
    const after = await resourcesOf(url)
    console.log(
      `idle for ${QUIET_MS / 1000} s: ${after.bytesRead - before.bytesRead} bytes of Cursor's read, ${asked} of anything`,
    )
    expect(after.bytesRead).toBe(before.bytesRead)
    // Only Linux reports it.
    expect(asked >= ASKED_MAX).toBe(false)
    expect(before.bytesReadLastMinute).toBeGreaterThan(0)
  } finally {
    await place.remove()
  }
})
