import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { headers, type Store } from '../../../../src/sample/cursor-home.ts'
import { untilReady, type Workplace } from '../../../helpers/spawn-cursordex.ts'

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const MESSAGES_A_CHAT = 100

/** A word for a number, all of one length: for each pair of letters there are many that begin with it. */
const wordOf = (at: number): string =>
  [26 ** 4, 26 ** 3, 26 ** 2, 26, 1].map((step) => LETTERS.charAt(Math.floor((at * 7_919_333) / step) % 26)).join('')

/** Messages of words that stand nowhere else: an index of as many terms, and nothing rare to begin with. */
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

/** Beginnings that many words have, each to be ranked against the others. */
export const slowQuery = Array.from({ length: 8 }, (_, at) => `${LETTERS.charAt(at)}${LETTERS.charAt(at + 9)}*`)
  .concat('-zzzzz')
  .join(' ')

/** The program over a large store, with little time for a search. @returns its address */
export async function serveSlowStore(place: Workplace, messages: number, deadlineMs: number): Promise<string> {
  fillWithWords(place.cursor.global(), messages, 100)
  const config = join(place.root, 'config.json')
  writeFileSync(config, JSON.stringify({ search: { deadlineMs } }))
  const { url } = await place.serve(['--config', config])
  await untilReady(url, 240_000)
  return url
}
