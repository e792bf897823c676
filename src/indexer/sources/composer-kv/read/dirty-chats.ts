import type { ChatId } from '../../../../model/ids.ts'
import { splitKey } from '../keys.ts'
import type { RowRef } from './read.ts'

export interface DirtyChat {
  readonly chatId: ChatId
  /** Rows whose value must be read although key and rowid are unchanged. */
  readonly suspects: ReadonlySet<string>
}

/** Chats with changes. */
export class DirtyChats {
  readonly #chats = new Map<ChatId, { newestRowid: number; suspects: Set<string> }>()
  #rows = 0

  /** How many rows were added. */
  get rows(): number {
    return this.#rows
  }

  /** @returns false if the key belongs to no chat */
  add(ref: RowRef, isSuspect = false): boolean {
    const chatId = splitKey(ref.key)?.chatId
    if (chatId === undefined) return false
    let chat = this.#chats.get(chatId)
    if (chat === undefined) this.#chats.set(chatId, (chat = { newestRowid: 0, suspects: new Set() }))
    this.#rows += 1
    chat.newestRowid = Math.max(chat.newestRowid, ref.rowid)
    if (isSuspect) chat.suspects.add(ref.key)
    return true
  }

  /** The chat written to last comes first: rowids grow with every write. */
  newestFirst(): DirtyChat[] {
    return [...this.#chats]
      .sort(([, a], [, b]) => b.newestRowid - a.newestRowid)
      .map(([chatId, { suspects }]) => ({ chatId, suspects }))
  }
}
