import { createHmac } from 'node:crypto'
import type { ChatId, MessageId } from '../../model/ids.ts'
import type { Part } from '../../model/part.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { comparable } from '../text-key.ts'
import { leavesOf } from './leaves.ts'
import { ensureSalt, ensureSecret, readSalt, readSecret } from './secret.ts'

type Kind = 'chat' | 'message' | 'text'

const IS_ANY = `select 1 from tombstones where kind = ? limit 1`
const HAS = `select 1 from tombstones where kind = ? and hash = ?`
const LIST_SIZES = `select distinct size from tombstones where size is not null`
const ADD = `insert into tombstones (kind, hash, size) values (?, ?, ?) on conflict do nothing`

/** What was removed for good, by what is left to know it by. Looked up for one transaction. */
export class Tombstones {
  readonly #db: Mirror
  readonly #salt: string | null
  readonly #hasChats: boolean
  readonly #hasMessages: boolean
  readonly #sizes: ReadonlySet<number>
  readonly #secret: string | null

  constructor(db: Mirror) {
    this.#db = db
    const isAny = (kind: Kind): boolean => prepared(db, IS_ANY).get(kind) !== undefined
    this.#hasChats = isAny('chat')
    this.#hasMessages = isAny('message')
    const hasTexts = isAny('text')
    const rows = hasTexts ? prepared<{ size: number }>(db, LIST_SIZES).all() : []
    this.#sizes = new Set(rows.map(({ size }) => size))
    this.#salt = this.#hasChats || this.#hasMessages ? readSalt(db) : null
    this.#secret = hasTexts ? readSecret(db) : null
  }

  /** Most mirrors have none, and are not to pay for it. */
  get isEmpty(): boolean {
    return !this.#hasChats && !this.#hasMessages && this.#sizes.size === 0
  }

  hasChat(id: ChatId): boolean {
    return this.#hasChats && this.#has('chat', hashOf(this.#salt, 'chat', id))
  }

  hasMessage(chatId: ChatId, id: MessageId): boolean {
    return this.#hasMessages && this.#has('message', hashOf(this.#salt, 'message', chatId, id))
  }

  /** White space aside. */
  hasText(text: string | null): boolean {
    if (this.#sizes.size === 0 || this.#secret === null || text === null) return false
    const words = comparable(text)
    return words !== null && this.#sizes.has(words.length) && this.#has('text', hashOf(this.#secret, 'text', words))
  }

  /** Whether any of its texts is one that was purged. */
  hasTextIn(parts: readonly Part[]): boolean {
    if (this.#sizes.size === 0) return false
    for (const leaf of leavesOf(parts)) if (this.hasText(leaf)) return true
    return false
  }

  get comparesTexts(): boolean {
    return this.#sizes.size > 0 && this.#secret !== null
  }

  #has(kind: Kind, hash: string): boolean {
    return prepared(this.#db, HAS).get(kind, hash) !== undefined
  }
}

const hashOf = (key: string | null, ...words: readonly string[]): string =>
  createHmac('sha256', key ?? '')
    .update(JSON.stringify(words))
    .digest('base64url')

export interface Removed {
  readonly chats: Iterable<ChatId>
  readonly messages: Iterable<{ readonly chatId: ChatId; readonly id: MessageId }>
  readonly texts: Iterable<string>
}

/** To be called within the transaction that notes what is to be removed. */
export function addTombstones(db: Mirror, { chats, messages, texts }: Removed): void {
  const salt = ensureSalt(db)
  const add = prepared(db, ADD)
  for (const id of chats) add.run('chat', hashOf(salt, 'chat', id), null)
  for (const { chatId, id } of messages) add.run('message', hashOf(salt, 'message', chatId, id), null)
  for (const text of texts) {
    const words = comparable(text)
    if (words !== null) add.run('text', hashOf(ensureSecret(db), 'text', words), words.length)
  }
}
