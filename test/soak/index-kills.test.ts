import { expect, test } from 'vitest'
import { Chance } from '../helpers/cursor.ts'
import { fillStore, wordOf } from '../helpers/fill-store.ts'
import { getJson, untilReady, Workplace } from '../helpers/spawn-cursordex.ts'

const KILLS = 200
const CHATS = 40
const MESSAGES = 20
const WORDS = 100

test(
  `after each of ${KILLS} kills while rows and terms are written, every message is found`,
  { timeout: 3_600_000 },
  async () => {
    const chance = new Chance('kills of the index')
    let place = new Workplace()
    const missing: string[] = []
    for (let round = 1; round <= KILLS; round += 1) {
      // Each time twenty chats more: the store is written anew, so that rowids and times change too.
      const chats = CHATS + 20 * (round % 20)
      fillStore(place.cursor.global(), { chats, messagesPerChat: MESSAGES, textLength: 2000 })
      const { daemon } = await place.serve()
      await new Promise((resolve) => setTimeout(resolve, Math.floor(chance.next() * 1200)))
      await daemon.stop('SIGKILL')
      if (round % 5 > 0) continue
      const again = await place.serve()
      await untilReady(again.url)
      for (let asked = 0; asked < WORDS; asked += 1) {
        const word = wordOf(Math.floor(chance.next() * chats), Math.floor(chance.next() * MESSAGES))
        const { total, warnings } = await getJson<{ total: number; warnings: string[] }>(
          again.url,
          `/api/search?q=${word}`,
        )
        if (total !== 1 || warnings.length > 0) missing.push(`${round} ${word}: ${total} ${warnings.join(' ')}`)
      }
      await again.daemon.stop()
      if (round % 20 > 0) continue
      await place.remove()
      place = new Workplace()
    }
    await place.remove()
    expect(missing).toEqual([])
  },
)
