import { createHmac, randomBytes } from 'node:crypto'
import type { ChatId, MessageId } from '../../model/ids.ts'
import type { Part } from '../../model/part.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../sql.ts'
import { tellsFacts, type Change, type ChatFacts, type ChatChange } from '../../model/change.ts'
import { comparable, parseParts } from '../write/pack-message.ts'
import { textsOf } from './scope.ts'

type Kind = 'chat' | 'message' | 'text'

const LIST_KEYS = `select key from user.keys where kind = ? order by num desc`
const LIST_SIZES = `select distinct size from user.bars where kind = 'text'`
const HAS = `select 1 from user.bars where kind = ? and hash = ?`
const ADD = `insert or ignore into user.bars (kind, hash, size) values (?, ?, ?)`
const ADD_KEY = `insert into user.keys (kind, key) values (?, ?)`

/** Texts have a key of their own, which goes with no archive. */
const listKeys = (db: Mirror, kind: Kind): readonly string[] =>
  prepared<string>(db, LIST_KEYS)
    .pluck()
    .all(kind === 'text' ? 'text' : 'id')

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
    this.#idKeys = listKeys(db, 'chat')
    this.#textKeys = listKeys(db, 'text')
    this.#sizes = new Set(prepared<number>(db, LIST_SIZES).pluck().all())
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

export const barChat = (db: Mirror, id: ChatId): void => add(db, 'chat', [id], null)

export const barMessage = (db: Mirror, chatId: ChatId, id: MessageId): void => add(db, 'message', [chatId, id], null)

export function barText(db: Mirror, chatId: ChatId, text: string): void {
  const words = comparable(text)
  if (words !== null) add(db, 'text', [words, chatId], words.length)
}

function add(db: Mirror, kind: Kind, words: readonly string[], size: number | null): void {
  const [key = newKey(db, kind)] = listKeys(db, kind)
  prepared(db, ADD).run(kind, hashOf(key, kind, ...words), size)
}

function newKey(db: Mirror, kind: Kind): string {
  const key = randomBytes(32).toString('base64url')
  prepared(db, ADD_KEY).run(kind === 'text' ? 'text' : 'id', key)
  return key
}

/**
 * A change without what was purged, whichever source it comes from. The source's rows stay, so that they count as read:
 * only their keys, sizes and checksums are stored.
 */
export function withoutPurged(db: Mirror, change: Change): Change {
  const bars = new Bars(db)
  if (bars.isEmpty) return change
  const stays = ({ chatId }: { readonly chatId: ChatId }): boolean => !bars.hasChat(chatId)
  const spared = (chatId: ChatId, text: string | null): string | null => (bars.hasText(chatId, text) ? null : text)
  return {
    ...change,
    chats: change.chats.flatMap((chat) => spareChat(bars, chat) ?? []),
    evidence: change.evidence.filter(stays),
    heads: change.heads
      .filter(stays)
      .map((head) => ({ ...head, name: spared(head.chatId, head.name), branch: spared(head.chatId, head.branch) })),
    tracked: change.tracked.filter(stays),
    paths: change.paths
      .filter(stays)
      .map(({ chatId, uris }) => ({ chatId, uris: uris.filter((uri) => !bars.hasText(chatId, uri)) })),
  }
}

/** Null if nothing is left to write. */
function spareChat(bars: Bars, chat: ChatChange): ChatChange | null {
  if (bars.hasChat(chat.id)) return null
  const messages = chat.messages.filter(
    ({ id, partsJson }) => !bars.hasMessage(chat.id, id, () => parseParts(partsJson)),
  )
  const isNothing = messages.length === 0 && chat.messages.length > 0 && chat.vanished.length === 0
  if (isNothing && chat.ownRow.kind === 'unread') return null
  const { ownRow } = chat
  if (!tellsFacts(ownRow)) return { ...chat, messages }
  return { ...chat, messages, ownRow: { ...ownRow, facts: spareFacts(bars, chat.id, ownRow.facts) } }
}

function spareFacts(bars: Bars, chatId: ChatId, facts: ChatFacts): ChatFacts {
  const spared = (text: string | null): string | null => (bars.hasText(chatId, text) ? null : text)
  return {
    ...facts,
    name: spared(facts.name),
    summary: spared(facts.summary),
    branch: spared(facts.branch ?? null),
    todos: facts.todos.filter(({ content }) => !bars.hasText(chatId, content)),
  }
}
