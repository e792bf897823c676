import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { headers, type Store } from '../../../helpers/cursor.ts'
import { untilReady, type Workplace } from '../../../helpers/spawn-cursordex.ts'

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const MESSAGES_A_CHAT = 100

/** A word for a number. All have the same length, and many words begin with the same pair of letters. */
const wordOf = (at: number): string =>
  [26 ** 4, 26 ** 3, 26 ** 2, 26, 1].map((step) => LETTERS.charAt(Math.floor((at * 7_919_333) / step) % 26)).join('')

/** Messages of words that occur only once: an index with many terms, none of which narrows a search. */
function fillWithWords(store: Store, messages: number, wordsEach: number): void {
  let word = 0
  store.db.transaction(() => {
    for (let chat = 0; chat * MESSAGES_A_CHAT < messages; chat += 1) {
      const ids = Array.from({ length: MESSAGES_A_CHAT }, (_, at) => `m${at}`)
      for (const id of ids) {
        const text = Array.from({ length: wordsEach }, () => wordOf((word += 1))).join(' ')
        store.message(`chat-${chat}`, id, { type: 1, text })
      }
      store.chat(`chat-${chat}`, { name: `Chat ${chat}`, fullConversationHeadersOnly: headers(ids) })
    }
  })()
}

/** Prefixes of many words, which have to be ranked against each other. */
export const slowQuery = Array.from({ length: 8 }, (_, at) => `${LETTERS.charAt(at)}${LETTERS.charAt(at + 9)}*`)
  .concat('-zzzzz')
  .join(' ')

/** The program with a large store and a short deadline for searches. @returns its address */
export async function serveSlowStore(place: Workplace, messages: number, deadlineMs: number): Promise<string> {
  fillWithWords(place.cursor.global(), messages, 100)
  const config = join(place.root, 'config.json')
  writeFileSync(config, JSON.stringify({ search: { deadlineMs } }))
  const { url } = await place.serve(['--config', config])
  await untilReady(url, 240_000)
  return url
}
