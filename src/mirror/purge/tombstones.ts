import { createHmac } from 'node:crypto'
import type { ChatId, MessageId } from '../../model/ids.ts'
import type { Part } from '../../model/part.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { comparable } from '../write/messages/text-key.ts'
import { sayingsOf } from './said.ts'
import { ensureSalt, ensureSecret, readSalt, readSecret } from './secret.ts'

type Kind = 'chat' | 'message' | 'text'

const IS_ANY = `select 1 from tombstones where kind = ? limit 1`
const HAS = `select 1 from tombstones where kind = ? and hash = ?`
const LIST_SIZES = `select distinct size from tombstones where size is not null`
const READ_TEXT = `select until, spares_untimed as sparesUntimed from tombstones where kind = 'text' and hash = ?`
const ADD = `insert into tombstones (kind, hash, size) values (?, ?, null) on conflict do nothing`
/** What is barred in two ways is barred in either. */
const ADD_TEXT = `
insert into tombstones (kind, hash, size, until, spares_untimed) values ('text', @hash, @size, @until, @sparesUntimed)
on conflict do update set
  until = iif(until is null or excluded.until is null, null, max(until, excluded.until)),
  spares_untimed = min(spares_untimed, excluded.spares_untimed)
`

/** Where a text stands. */
export interface Place {
  readonly chatId: ChatId
  /** When it was said, epoch milliseconds; null where nobody knows. */
  readonly atMs: number | null
}

interface TextRow {
  readonly until: number | null
  readonly sparesUntimed: number
}

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

  /** Whether a text was purged that stands there, white space aside. */
  hasText(text: string | null, place: Place): boolean {
    if (this.#sizes.size === 0 || this.#secret === null || text === null) return false
    const words = comparable(text)
    if (words === null || !this.#sizes.has(words.length)) return false
    const hashes = [textHash(this.#secret, words, null), textHash(this.#secret, words, place.chatId)]
    return hashes.some((hash) => bars(prepared<TextRow>(this.#db, READ_TEXT).get(hash), place))
  }

  /** Whether any of its texts is one that was purged. */
  hasTextIn(parts: readonly Part[], place: Place): boolean {
    if (this.#sizes.size === 0) return false
    for (const { text } of sayingsOf(parts)) if (this.hasText(text, place)) return true
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

const textHash = (secret: string, words: string, chatId: ChatId | null): string =>
  chatId === null ? hashOf(secret, 'text', words) : hashOf(secret, 'text', words, chatId)

function bars(row: TextRow | undefined, { atMs }: Place): boolean {
  if (row === undefined) return false
  return atMs === null ? row.sparesUntimed === 0 : row.until === null || atMs <= row.until
}

/** A text that was removed, and where it is to stay out. */
export interface RemovedText {
  readonly text: string
  /** Null: in any chat. */
  readonly chatId: ChatId | null
}

export interface Removed {
  readonly chats: Iterable<ChatId>
  readonly messages: Iterable<{ readonly chatId: ChatId; readonly id: MessageId }>
  readonly texts: Iterable<RemovedText>
  /** The last moment at which a text was said that stays out, epoch milliseconds; null: whenever it was said. */
  readonly until: number | null
  /** Whether texts come in of which nobody knows when they were said. */
  readonly sparesUntimed: boolean
}

/** To be called within the transaction that notes what is to be removed. */
export function addTombstones(db: Mirror, { chats, messages, texts, until, sparesUntimed }: Removed): void {
  const salt = ensureSalt(db)
  const add = prepared(db, ADD)
  for (const id of chats) add.run('chat', hashOf(salt, 'chat', id))
  for (const { chatId, id } of messages) add.run('message', hashOf(salt, 'message', chatId, id))
  for (const { text, chatId } of texts) {
    const words = comparable(text)
    if (words === null) continue
    const hash = textHash(ensureSecret(db), words, chatId)
    prepared(db, ADD_TEXT).run({ hash, size: words.length, until, sparesUntimed: Number(sparesUntimed) })
  }
}
