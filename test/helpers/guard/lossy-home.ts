import { CursorHome, headers, type Store } from '../cursor.ts'
import { Indexer } from '../in-process.ts'

const FIRST_AT_MS = Date.UTC(2026, 0, 5, 9)
/** Longer than a page of the mirror. */
const LONG = 24_000

const pad = (value: number): string => String(value).padStart(4, '0')
export const chatIdOf = (chat: number): string => `chat-${pad(chat)}-of-the-home`
export const messageIdOf = (chat: number, message: number): string => `id-${pad(chat)}-${pad(message)}-end`
/** A word that only this message contains, on every page with a part of it. */
export const wordOf = (chat: number, message: number): string => `w${pad(chat)}x${pad(message)}z`

export function writeMessage(store: Store, chat: number, message: number): void {
  const word = wordOf(chat, message)
  const text =
    message % 10 === 3 ? `${word} plum `.repeat(LONG / 15) : `${word} `.repeat(4 + ((chat * 7 + message) % 60))
  const createdAt = new Date(FIRST_AT_MS + chat * 3_600_000 + message * 1000).toISOString()
  store.message(chatIdOf(chat), messageIdOf(chat, message), { type: 1 + (message % 2), text, createdAt })
}

export function writeChat(store: Store, chat: number, messages: number): void {
  const ids = Array.from({ length: messages }, (_, message) => messageIdOf(chat, message))
  for (let message = 0; message < messages; message += 1) writeMessage(store, chat, message)
  const createdAt = FIRST_AT_MS + chat * 3_600_000
  store.chat(chatIdOf(chat), { name: `Chat ${chat}`, createdAt, fullConversationHeadersOnly: headers(ids) })
}

export interface LossyHome {
  readonly home: CursorHome
  readonly store: Store
  readonly indexer: Indexer
  /** The messages that Cursor lost and the mirror still has. */
  readonly lost: readonly { readonly chat: number; readonly message: number }[]
  remove(): void
}

/** A Cursor home that lost a third of its messages, and a mirror that has all of them. */
export async function lossyHome(chats: number, messages: number): Promise<LossyHome> {
  const home = new CursorHome()
  const store = home.global()
  store.db.transaction(() => {
    for (let chat = 0; chat < chats; chat += 1) writeChat(store, chat, messages)
  })()
  home.workspace('ws', { folder: 'file:///home/ada/shop' }, [chatIdOf(0), chatIdOf(1), chatIdOf(2), chatIdOf(3)])
  const indexer = new Indexer(home.userDir)
  await indexer.pass()
  const lost: { chat: number; message: number }[] = []
  store.db.transaction(() => {
    for (let chat = 0; chat < chats; chat += 1) {
      for (let message = 0; message < messages; message += 1) {
        // Every fifth chat completely, and every fifth message of the others.
        if (chat % 5 !== 0 && message % 5 !== 1) continue
        store.delete(`bubbleId:${chatIdOf(chat)}:${messageIdOf(chat, message)}`)
        lost.push({ chat, message })
      }
      if (chat % 5 === 0) store.delete(`composerData:${chatIdOf(chat)}`)
    }
  })()
  // Such a large loss is only confirmed by a full pass or after a minute.
  await indexer.pass('values')
  return {
    home,
    store,
    indexer,
    lost,
    remove: () => {
      indexer.remove()
      home.remove()
    },
  }
}
