import type { Store } from './cursor.ts'
import { fillStore } from './fill-store.ts'
import { getJson, untilReady, Workplace } from './spawn-cursordex.ts'

/** Four chats with six messages each, mirrored by a daemon that is now stopped. Since then Cursor lost `m1-2` of `chat-1`. */
export async function placeWithLoss(): Promise<{ readonly place: Workplace; readonly store: Store }> {
  const place = new Workplace()
  const store = place.cursor.global()
  fillStore(store, { chats: 4, messagesPerChat: 6 })
  const { daemon, url } = await place.serve()
  await untilReady(url)
  store.delete('bubbleId:chat-1:m1-2')
  await getJson(url, '/api/sync', { method: 'POST' })
  await daemon.stop()
  return { place, store }
}
