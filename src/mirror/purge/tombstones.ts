import { createHmac, randomBytes } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ChatId, MessageId } from '../../model/ids.ts'
import type { Part } from '../../model/part.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import { comparable } from '../write/messages/pack-message.ts'
import { textsOf, type RemovedText } from './message-texts.ts'

type Kind = 'chat' | 'message' | 'text'

const IS_ANY = `select 1 from tombstones where kind = ? limit 1`
const HAS = `select 1 from tombstones where kind = ? and hash = ?`
const LIST_SIZES = `select distinct size from tombstones where size is not null`
const READ_TEXT = `select until, spares_untimed as sparesUntimed from tombstones where kind = 'text' and hash = ?`
const ADD = `insert into tombstones (kind, hash, size) values (?, ?, null) on conflict do nothing`
/** Older versions made tombstones with a time limit. A new tombstone of the same text has none. */
const ADD_TEXT = `
insert into tombstones (kind, hash, size) values ('text', @hash, @size)
on conflict do update set until = null, spares_untimed = 0
`
const COUNT = `
select
  count(*) filter (where kind = 'chat') as chats,
  count(*) filter (where kind = 'message') as messages,
  count(*) filter (where kind = 'text') as texts
from tombstones
`

export interface TombstoneCounts {
  readonly chats: number
  readonly messages: number
  readonly texts: number
}

export const countTombstones = (db: Mirror): TombstoneCounts =>
  prepared<TombstoneCounts>(db, COUNT).get() ?? { chats: 0, messages: 0, texts: 0 }

/** Where a text is found. */
export interface Place {
  readonly chatId: ChatId
  /** When it was sent, epoch milliseconds; null if unknown. */
  readonly atMs: number | null
}

/** What was purged, known by keyed hashes. Valid for one transaction. */
export class Tombstones {
  readonly #db: Mirror
  readonly #salt: string | null
  readonly #secret: string | null
  readonly #sizes: ReadonlySet<number>
  readonly #hasIds: boolean

  constructor(db: Mirror) {
    this.#db = db
    const hasAny = (kind: Kind): boolean => prepared(db, IS_ANY).get(kind) !== undefined
    this.#hasIds = hasAny('chat') || hasAny('message')
    this.#salt = this.#hasIds ? readSalt(db) : null
    this.#sizes = new Set(prepared<number>(db, LIST_SIZES).pluck().all())
    this.#secret = this.#sizes.size === 0 ? null : readSecret(db)
  }

  /** True for most mirrors: they skip all checks. */
  get isEmpty(): boolean {
    return !this.#hasIds && this.#sizes.size === 0
  }

  /** False also if the key to the hashes of texts is lost. */
  get comparesTexts(): boolean {
    return this.#sizes.size > 0 && this.#secret !== null
  }

  hasChat(id: ChatId): boolean {
    return this.#has('chat', id)
  }

  hasMessage(chatId: ChatId, id: MessageId): boolean {
    return this.#has('message', chatId, id)
  }

  #has(kind: Kind, ...words: readonly string[]): boolean {
    return this.#hasIds && prepared(this.#db, HAS).get(kind, hashOf(this.#salt, kind, ...words)) !== undefined
  }

  /** Whether a text was purged, ignoring white space. */
  hasText(text: string | null, place: Place): boolean {
    if (this.#sizes.size === 0 || this.#secret === null || text === null) return false
    const words = comparable(text)
    // The size is compared first: hashing every text would be slow.
    if (words === null || !this.#sizes.has(words.length)) return false
    const hashes = [textHash(this.#secret, words, null), textHash(this.#secret, words, place.chatId)]
    return hashes.some((hash) => isBarred(prepared<TextRow>(this.#db, READ_TEXT).get(hash), place))
  }

  /** Whether one of the texts of a message was purged. */
  hasTextIn(parts: readonly Part[], place: Place): boolean {
    if (!this.comparesTexts) return false
    for (const { text } of textsOf(parts)) if (this.hasText(text, place)) return true
    return false
  }
}

interface TextRow {
  readonly until: number | null
  readonly sparesUntimed: number
}

function isBarred(row: TextRow | undefined, { atMs }: Place): boolean {
  if (row === undefined) return false
  return atMs === null ? row.sparesUntimed === 0 : row.until === null || atMs <= row.until
}

const hashOf = (key: string | null, ...words: readonly string[]): string =>
  createHmac('sha256', key ?? '')
    .update(JSON.stringify(words))
    .digest('base64url')

const textHash = (secret: string, words: string, chatId: ChatId | null): string =>
  hashOf(secret, 'text', words, ...(chatId === null ? [] : [chatId]))

export interface Removed {
  readonly chats?: Iterable<ChatId>
  readonly messages?: Iterable<{ readonly chatId: ChatId; readonly id: MessageId }>
  readonly texts?: Iterable<RemovedText>
}

/** Must run in the transaction that notes what is removed. */
export function addTombstones(db: Mirror, { chats = [], messages = [], texts = [] }: Removed): void {
  const salt = ensureSalt(db)
  const add = prepared(db, ADD)
  for (const id of chats) add.run('chat', hashOf(salt, 'chat', id))
  for (const { chatId, id } of messages) add.run('message', hashOf(salt, 'message', chatId, id))
  for (const { text, chatId } of texts) {
    const words = comparable(text)
    if (words === null) continue
    prepared(db, ADD_TEXT).run({ hash: textHash(ensureSecret(db), words, chatId), size: words.length })
  }
}

const READ_SALT = `select salt from purge_salt order by salt limit 1`
const ADD_SALT = `insert into purge_salt (salt) values (?)`

const readSalt = (db: Mirror): string | null => prepared<string>(db, READ_SALT).pluck().get() ?? null

function ensureSalt(db: Mirror): string {
  const salt = readSalt(db)
  if (salt !== null) return salt
  prepared(db, ADD_SALT).run(newKey())
  return ensureSalt(db)
}

/** A file of its own: with the mirror's file alone, nobody can try short texts against their hashes. */
export const SECRET_FILE = 'purge.key'

const secretPath = (db: Mirror): string => join(dirname(db.name), SECRET_FILE)
const newKey = (): string => randomBytes(32).toString('base64url')

/** Null if the file is missing: then purged texts cannot be recognised. */
function readSecret(db: Mirror): string | null {
  try {
    return readFileSync(secretPath(db), 'utf8').trim() || null
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

function ensureSecret(db: Mirror): string {
  const before = readSecret(db)
  if (before !== null) return before
  const secret = newKey()
  const beside = `${secretPath(db)}.${process.pid}.new`
  writeFileSync(beside, `${secret}\n`, { mode: 0o600, flush: true })
  renameSync(beside, secretPath(db))
  return secret
}
