import { expect, test } from 'vitest'
import { fillStore } from '../helpers/fill-store.ts'
import { getJson, untilReady, Workplace } from '../helpers/spawn-cursordex.ts'
import { pause } from '../helpers/wait-until.ts'

interface Told {
  readonly resources: { readonly bytesRead: number; readonly cpuPercent: number }
}

test('a minute after what follows on a change, no byte is read for a minute', async () => {
  const place = new Workplace()
  try {
    const store = place.cursor.global()
    fillStore(store, { chats: 100, messagesPerChat: 20, textLength: 6000 })
    const { url } = await place.serve()
    await untilReady(url)
    store.message('chat-1', 'late', { type: 1, text: 'a change' })
    // The chats of today after 15 s, every value after 10 s, a count within a minute.
    await pause(90_000)
    await untilReady(url)
    const before = await getJson<Told>(url, '/api/status')
    await pause(65_000)
    const { resources } = await getJson<Told>(url, '/api/status')
    const bytes = resources.bytesRead - before.resources.bytesRead
    console.log(`idle minute: ${bytes} bytes read, ${resources.cpuPercent} % of a core`)
    expect(bytes).toBe(0)
  } finally {
    await place.remove()
  }
})
