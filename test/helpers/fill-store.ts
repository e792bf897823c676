import { headers, type Store } from './cursor.ts'

const FIRST_AT_MS = Date.UTC(2026, 0, 5, 9)

export interface Filling {
  readonly chats: number
  readonly messagesPerChat: number
  /** Length of each message in characters. */
  readonly textLength?: number
}

/** Fills a store with whole chats, `word<chat>x<message>` in each message, in one transaction. */
export function fillStore(store: Store, { chats, messagesPerChat, textLength = 40 }: Filling): void {
  store.db.transaction(() => {
    for (let chat = 0; chat < chats; chat += 1) writeChat(store, chat, messagesPerChat, textLength)
  })()
}

function writeChat(store: Store, chat: number, messages: number, textLength: number): void {
  const chatId = `chat-${chat}`
  const ids = Array.from({ length: messages }, (_, index) => `m${chat}-${index}`)
  for (const [index, id] of ids.entries()) {
    const text = `plum ${wordOf(chat, index)} `.padEnd(textLength, 'lorem ipsum dolor sit amet ')
    const createdAt = new Date(FIRST_AT_MS + chat * 3_600_000 + index * 1000).toISOString()
    store.message(chatId, id, { type: index % 2 === 0 ? 1 : 2, text, createdAt })
  }
  const createdAt = FIRST_AT_MS + chat * 3_600_000
  store.chat(chatId, { name: `Chat ${chat}`, createdAt, fullConversationHeadersOnly: headers(ids) })
}

/** A word that only this message contains, and that is a single term in the index. */
export function wordOf(chat: number, message: number): string {
  const letters = (value: number): string => String(value).replace(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)))
  return `${letters(chat)}q${letters(message)}z`
}
