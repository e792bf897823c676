import { createHmac, randomBytes } from 'node:crypto'
import type { ChatId, MessageId } from '../../model/ids.ts'
import type { Part } from '../../model/part.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../sql.ts'
import { comparable } from '../write/pack-message.ts'
import { textsOf } from './message-texts.ts'

type Kind = 'chat' | 'message' | 'text'
type KeyKind = 'id' | 'text'

const LIST_KEYS = `select key from user.keys where kind = ? order by num desc`
const LIST_SIZES = `select distinct size from user.bars where kind = 'text'`
const HAS = `select 1 from user.bars where kind = ? and hash = ?`
const ADD = `insert or ignore into user.bars (kind, hash, size) values (?, ?, ?)`
const ADD_KEY = `insert into user.keys (kind, key) values (?, ?)`
const COUNT = `
select
  count(*) filter (where kind = 'chat') as chats,
  count(*) filter (where kind = 'message') as messages,
  count(*) filter (where kind = 'text') as texts
from user.bars
`

/** How many chats, messages and texts are barred. */
export const countKinds = (db: Mirror) =>
  prepared<Record<'chats' | 'messages' | 'texts', number>>(db, COUNT).get() ?? { chats: 0, messages: 0, texts: 0 }

const listKeys = (db: Mirror, kind: KeyKind): readonly string[] => prepared<string>(db, LIST_KEYS).pluck().all(kind)

const hashOf = (key: string, ...words: readonly string[]): string =>
  createHmac('sha256', key).update(JSON.stringify(words)).digest('base64url')

/** What stays out because it was purged. Valid for one transaction. */
export class Bars {
  readonly #db: Mirror
  readonly #idKeys: readonly string[]
  readonly #textKeys: readonly string[]
  readonly #sizes: ReadonlySet<number>

  /** @param db any connection to which the user's file is attached */
  constructor(db: Mirror) {
    this.#db = db
    this.#idKeys = listKeys(db, 'id')
    this.#textKeys = listKeys(db, 'text')
    this.#sizes = new Set(this.#textKeys.length === 0 ? [] : prepared<number>(db, LIST_SIZES).pluck().all())
  }

  /** True for most mirrors: they skip all checks. */
  get isEmpty(): boolean {
    return this.#idKeys.length === 0 && !this.hasTexts
  }

  get hasTexts(): boolean {
    return this.#sizes.size > 0
  }

  hasChat(id: ChatId): boolean {
    return this.#has(this.#idKeys, 'chat', id)
  }

  /** Whether a message was purged, or one of its texts. @param parts may be expensive, and is often not needed */
  hasMessage(chatId: ChatId, id: MessageId, parts: () => readonly Part[]): boolean {
    if (this.#has(this.#idKeys, 'message', chatId, id)) return true
    return this.hasTexts && textsOf(parts()).some((text) => this.hasText(chatId, text))
  }

  /** Whether a text was purged from a chat, ignoring white space. */
  hasText(chatId: ChatId, text: string | null): boolean {
    const words = text === null ? null : comparable(text)
    // The size is compared first: hashing every text would be slow.
    if (words === null || !this.#sizes.has(words.length)) return false
    // Older versions barred a text from all chats.
    return this.#has(this.#textKeys, 'text', words, chatId) || this.#has(this.#textKeys, 'text', words)
  }

  #has(keys: readonly string[], kind: Kind, ...words: readonly string[]): boolean {
    return keys.some((key) => prepared(this.#db, HAS).get(kind, hashOf(key, kind, ...words)) !== undefined)
  }
}

export interface Purged {
  readonly chatIds: Iterable<ChatId>
  readonly messages: Iterable<{ readonly chatId: ChatId; readonly id: MessageId }>
  readonly texts: Iterable<{ readonly chatId: ChatId; readonly text: string }>
}

/** Call it in a transaction, before anything is removed. */
export function addBars(db: Mirror, { chatIds, messages, texts }: Purged): void {
  const [idKey, textKey] = [ensureKey(db, 'id'), ensureKey(db, 'text')]
  const add = (key: string, kind: Kind, words: readonly string[], size: number | null): void =>
    void prepared(db, ADD).run(kind, hashOf(key, kind, ...words), size)
  for (const id of chatIds) add(idKey, 'chat', [id], null)
  for (const { chatId, id } of messages) add(idKey, 'message', [chatId, id], null)
  for (const { chatId, text } of texts) {
    const words = comparable(text)
    if (words !== null) add(textKey, 'text', [words, chatId], words.length)
  }
}

function ensureKey(db: Mirror, kind: KeyKind): string {
  const [latest] = listKeys(db, kind)
  if (latest !== undefined) return latest
  prepared(db, ADD_KEY).run(kind, randomBytes(32).toString('base64url'))
  return ensureKey(db, kind)
}
