import type { ReadChat } from '../../api/archives/open-run.ts'
import type { RestoreStep } from '../../indexer/sources/archive/index.ts'
import type { ChatId } from '../../model/ids.ts'
import type { RestoreDamage, RestoreProgress, RestoreResult } from './restore-orders.ts'

/** What a restore has done so far. A chat that is read in several states, of several mirrors, is one. */
export class RestoreTally {
  /** Chats of which something was written. */
  readonly touched = new Set<ChatId>()
  progress: RestoreProgress = { done: 0, total: 0 }
  /** Of each undamaged chat, how many messages the fullest of its states has. */
  readonly #messages = new Map<string, number>()
  readonly #damaged: RestoreDamage[] = []
  readonly #named = new Set<string>()
  #added = 0
  #addedChats = 0
  #last: ReadChat['chat'] | null = null

  /** The chat that is read next. */
  at({ chat, done, total }: ReadChat): void {
    this.progress = { done, total }
    this.#last = chat
  }

  add({ chats, messages, addedChats, damaged, outcome }: RestoreStep): void {
    if (chats > 0 && this.#last?.kind === 'sound') {
      const { id } = this.#last.chat
      this.#messages.set(id, Math.max(messages, this.#messages.get(id) ?? 0))
    }
    this.#added += outcome?.added ?? 0
    this.#addedChats += addedChats
    for (const { id, why } of damaged) {
      if (id === null || !this.#named.has(id)) this.#damaged.push({ id, why })
      if (id !== null) this.#named.add(id)
    }
    for (const id of outcome?.chatIds ?? []) this.touched.add(id)
  }

  get told(): Pick<RestoreResult, 'chats' | 'messages' | 'added' | 'addedChats' | 'damaged'> {
    let messages = 0
    for (const count of this.#messages.values()) messages += count
    return {
      chats: this.#messages.size,
      messages,
      added: this.#added,
      addedChats: this.#addedChats,
      damaged: this.#damaged,
    }
  }
}
