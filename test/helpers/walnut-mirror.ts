import type { Mirror } from '../../src/mirror/open.ts'
import { insertChat, insertMessage, openTestMirror } from './mirror-rows.ts'

/** Messages per chat. */
const SAID_EACH = 300

/**
 * A mirror with "walnuts" in the titles of some chats, whose messages of January 2026 do not contain the word,
 * and in messages of February in chats with other titles.
 * @param saying how many chats have 300 such messages each
 */
export function openWalnutMirror(titled: number, saying: number): Mirror {
  const db = openTestMirror()
  const fill = db.transaction(() => {
    for (let at = 0; at < titled; at += 1) {
      const chat = insertChat(db, { id: `titled${at}`, title: `About walnuts ${at}` })
      insertMessage(db, chat, { id: `t${at}`, parts: 'nothing of the kind', createdAtMs: Date.UTC(2026, 0, 1) + at })
    }
    for (let at = 0; at < saying; at += 1) {
      const chat = insertChat(db, { id: `said${at}`, title: 'Bread' })
      for (let number = 0; number < SAID_EACH; number += 1) {
        const createdAtMs = Date.UTC(2026, 1, 1 + at) + number
        insertMessage(db, chat, { id: `s${at}-${number}`, parts: 'bread with walnuts', createdAtMs, position: number })
      }
    }
  })
  fill()
  return db
}
