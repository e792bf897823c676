import { createHmac, hash as digest, randomBytes } from 'node:crypto'
import { closeSync, existsSync, openSync, renameSync, rmSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { tellsFacts, type Change, type ChatChange } from '../../model/change.ts'
import type { ChatId, MessageId } from '../../model/ids.ts'
import type { Part } from '../../model/part.ts'
import { UserError } from '../../model/user-error.ts'
import { readRegular, requireRegular } from '../../regular-file.ts'
import Database from '../../sqlite.ts'
import { codeOf, isDamage } from '../damage/find-damage.ts'
import type { Mirror } from '../open.ts'
import { asking, counting, finding, findingValue, listingValues, prepared, writing } from '../sql.ts'
import { comparable, parseParts } from '../write/pack-message.ts'
import { textsOf } from './scope.ts'

/** Append only: the file's version says how many of them it has. */
const STEPS = [
  `
-- What purges keep out, by keyed hashes: a chat, a message of a chat, a text in a chat. size: of a text, its characters.
create table user.bars (kind text not null, hash text not null, size integer, primary key (kind, hash)) strict, without rowid;
-- The keys of the hashes of ids (kind 'id') and of texts (kind 'text'). Only the latest of a kind makes new hashes.
create table user.keys (num integer primary key, kind text not null, key text not null, unique (kind, key)) strict;
-- How many bars are lost, and the user went on without them.
create table user.lost (bars integer not null) strict;
insert into user.lost values (0);
`,
  `
-- Projects whose chats belong to another one, by root URIs; target: the other one as JSON. An undone merge leaves its number.
create table user.merges (num integer primary key, uri text unique, target text) strict;
`,
]

/** What only the user said, in a file of its own beside the mirror: it outlives every mirror. */
const userFile = (mirrorPath: string): string => join(dirname(mirrorPath), 'user.db')

/**
 * Attaches the user's file to a connection as `user`, and makes it if it is missing. One that cannot be read is renamed:
 * then its bars are missing, as those of a file that was deleted.
 * @returns whether it could not be read
 */
export function attachUser(db: Mirror, mirrorPath: string): boolean {
  const file = userFile(mirrorPath)
  requireRegular(file)
  const isDamaged = existsSync(file) && !isReadable(file)
  if (isDamaged) {
    let aside = `${file}.damaged`
    for (let again = 2; existsSync(aside); again += 1) aside = `${file}.damaged-${again}`
    renameSync(file, aside)
  }
  closeSync(openSync(file, 'a', 0o600))
  attach(db, file)
  return isDamaged
}

/** A table that is missing has the last of these codes. */
const isUnreadable = (error: unknown): boolean => isDamage(error) || codeOf(error) === 'SQLITE_ERROR'

const READ_ALL = `
select (select count(kind || hash || size) from bars) + (select count(kind || key) from keys) + (select bars from lost)
`

function isReadable(file: string): boolean {
  const db = new Database(file)
  try {
    if (db.pragma('quick_check', { simple: true }) !== 'ok') return false
    return db.pragma('user_version', { simple: true }) === 0 || db.prepare(READ_ALL).pluck().get() !== null
  } catch (error) {
    if (isUnreadable(error)) return false
    throw error
  } finally {
    db.close()
  }
}

function attach(db: Mirror, file: string): void {
  requireRegular(file)
  db.prepare('attach ? as user').run(file)
  const version = Number(db.pragma('user.user_version', { simple: true }))
  if (version >= STEPS.length) return
  db.transaction(() => {
    for (const sql of STEPS.slice(version)) db.exec(sql)
    db.pragma(`user.user_version = ${STEPS.length}`)
  })()
}

/** A connection that has the bars only, for who reads. */
export function openBars(mirrorPath: string): Mirror {
  const db = new Database(':memory:')
  const file = userFile(mirrorPath)
  ofUser(() => attach(db, existsSync(file) ? file : ':memory:'))
  return db
}

/** Whatever reads or writes the user's file: its damage must not count as damage of the mirror. @throws UserError `bars-lost` */
export function ofUser<Result>(act: () => Result): Result {
  try {
    return act()
  } catch (error) {
    throw isUnreadable(error) ? barsLost('The bars that keep purged chats out cannot be read') : error
  }
}

const barsLost = (what: string): UserError =>
  new UserError(
    'bars-lost',
    `${what} in user.db, so nothing is read from Cursor.`,
    'Put user.db of the data folder back and start again. Or go on without them: cursordex purge --accept-lost-bars',
  )

const COUNT = `select count(*) + (select bars from user.lost) from user.bars`
const count = counting(COUNT)

/** How many bars there are, with those that were given up. This number only grows. */
export const countBars = (db: Mirror): number => ofUser(() => count(db))

/**
 * What was done for how many bars. known: noticed if some are missing later. rows: removed from the mirror. bytes: archives
 * and the mirror's file were written again, so no file of ours contains any.
 */
type Stage = 'known' | 'rows' | 'bytes'

const readStage = counting<[Stage]>(`select bars from purge_stages where stage = ?`)
const raiseStage = writing<[Stage, bars: number]>(
  `insert into purge_stages (stage, bars) values (?, ?) on conflict do update set bars = max(bars, excluded.bars)`,
)

export const isDone = (db: Mirror, stage: Stage): boolean => readStage(db, stage) >= countBars(db)

export const noteStage = (db: Mirror, stage: Stage, bars = countBars(db)): void => void raiseStage(db, stage, bars)

/** How many bars are missing that the mirror or an archive knew. */
export const countLost = (db: Mirror): number => Math.max(0, readStage(db, 'known') - countBars(db))

/** @throws UserError `bars-lost` if what was purged could come in again */
export function requireBars(db: Mirror): void {
  const lost = countLost(db)
  if (lost > 0)
    throw barsLost(
      lost === 1
        ? 'A bar that keeps a purged chat out is missing'
        : `${lost} bars that keep purged chats out are missing`,
    )
}

const accept = writing<[lost: number]>(`update user.lost set bars = bars + ?`)

/** Goes on without the bars that are missing. */
export const acceptLost = (db: Mirror): void => void ofUser(() => accept(db, countLost(db)))

/** What is barred: a chat, a message of it, or a text in it. */
export interface Target {
  readonly kind: 'chat' | 'message' | 'text'
  readonly chatId: ChatId
  /** The id of the message, or the text; '' for a chat. */
  readonly what: string
}

const listKeys = listingValues<[kind: string], string>(`select key from user.keys where kind = ? order by num desc`)
const listSizes = listingValues<[], number>(`select distinct size from user.bars where kind = 'text'`)
const hasAny = asking(`select 1 from user.bars limit 1`)
const isBarred = asking<[Target['kind'], hash: string]>(`select 1 from user.bars where kind = ? and hash = ?`)
const ADD = `insert or ignore into user.bars (kind, hash, size) values (?, ?, ?)`
const ADD_KEY = `insert or ignore into user.keys (kind, key) values (?, ?)`

/** Texts have a key of their own, which goes with no archive. */
const keyKind = (kind: Target['kind']): string => (kind === 'text' ? 'text' : 'id')

const hashOf = (key: string, ...words: readonly string[]): string =>
  createHmac('sha256', key).update(JSON.stringify(words)).digest('base64url')

export function addBars(db: Mirror, targets: readonly Target[]): void {
  const add = ({ kind, chatId, what }: Target): void => {
    let [key] = listKeys(db, keyKind(kind))
    if (key === undefined) prepared(db, ADD_KEY).run(keyKind(kind), (key = randomBytes(32).toString('base64url')))
    const text = kind === 'text' ? (comparable(what) ?? '') : null
    const words = text !== null ? [text, chatId] : kind === 'chat' ? [chatId] : [chatId, what]
    prepared(db, ADD).run(kind, hashOf(key, kind, ...words), text?.length ?? null)
  }
  ofUser(() => db.transaction(() => targets.forEach(add))())
}

/** What stays out because it was purged. Valid for one transaction. */
export class Bars {
  readonly #db: Mirror
  /** True for most mirrors: they skip all checks. */
  readonly isEmpty: boolean
  readonly #sizes: ReadonlySet<number>

  /** @param db any connection to which the user's file is attached */
  constructor(db: Mirror) {
    this.#db = db
    this.isEmpty = ofUser(() => !hasAny(db))
    this.#sizes = new Set(this.isEmpty ? [] : ofUser(() => listSizes(db)))
  }

  hasChat(id: ChatId): boolean {
    return this.#has('chat', id)
  }

  /** Whether a message was purged, or one of its texts. @param parts may be expensive, and is often not needed */
  hasMessage(chatId: ChatId, id: MessageId, parts: () => readonly Part[]): boolean {
    if (this.#has('message', chatId, id)) return true
    return this.#sizes.size > 0 && textsOf(parts()).some((text) => this.hasText(chatId, text))
  }

  /** Whether a text was purged from a chat, ignoring white space. */
  hasText(chatId: ChatId, text: string | null): boolean {
    const words = text === null ? null : comparable(text)
    // The size is compared first: hashing every text would be slow.
    if (words === null || !this.#sizes.has(words.length)) return false
    // Older versions barred a text from all chats.
    return this.#has('text', words, chatId) || this.#has('text', words)
  }

  #has(kind: Target['kind'], ...words: readonly string[]): boolean {
    if (this.isEmpty) return false
    return ofUser(() =>
      listKeys(this.#db, keyKind(kind)).some((key) => isBarred(this.#db, kind, hashOf(key, kind, ...words))),
    )
  }
}

/**
 * A change without what was purged, whichever source it comes from. The source's rows stay, so that they count as read:
 * only their keys, sizes and checksums are stored.
 */
export function withoutPurged(db: Mirror, change: Change): Change {
  const bars = new Bars(db)
  if (bars.isEmpty) return change
  const stay = <Row extends { readonly chatId: ChatId }>(rows: readonly Row[]): readonly Row[] =>
    rows.filter(({ chatId }) => !bars.hasChat(chatId))
  const spared = (chatId: ChatId, text: string | null): string | null => (bars.hasText(chatId, text) ? null : text)
  return {
    ...change,
    chats: change.chats.flatMap((chat) => spareChat(bars, chat) ?? []),
    evidence: stay(change.evidence),
    metadata: stay(change.metadata).map(({ chatId, name, branch, ...head }) => {
      return { ...head, chatId, name: spared(chatId, name), branch: spared(chatId, branch) }
    }),
    tracked: stay(change.tracked),
    paths: stay(change.paths).map(({ chatId, uris }) => {
      return { chatId, uris: uris.filter((uri) => !bars.hasText(chatId, uri)) }
    }),
  }
}

/** Null if nothing is left to write. */
function spareChat(bars: Bars, chat: ChatChange): ChatChange | null {
  const { id, ownRow } = chat
  if (bars.hasChat(id)) return null
  const messages = chat.messages.filter((one) => !bars.hasMessage(id, one.id, () => parseParts(one.partsJson)))
  const isNothing = messages.length === 0 && chat.messages.length > 0 && chat.vanished.length === 0
  if (isNothing && ownRow.kind === 'unread') return null
  if (!tellsFacts(ownRow)) return { ...chat, messages }
  const spared = (text: string | null): string | null => (bars.hasText(id, text) ? null : text)
  const { name, summary, branch = null, preview = null } = ownRow.facts
  const todos = ownRow.facts.todos.filter(({ content }) => !bars.hasText(id, content))
  const texts = { name: spared(name), summary: spared(summary), branch: spared(branch), preview: spared(preview) }
  const facts = { ...ownRow.facts, ...texts, todos }
  return { ...chat, messages, ownRow: { ...ownRow, facts } }
}

/** The bars of ids beside an archive, and merges. With texts and their key, whoever has it could try which texts were purged. */
export const BARS_FILE = 'bars.json'
const BARS_BYTES_MAX = 64 * 1024 * 1024

const pack = findingValue<[home: string], string>(`
select json_object('home', ?, 'known', (${COUNT}),
  'bars', (select json_group_array(json_array(kind, hash)) from user.bars where kind <> 'text'),
  'keys', (select json_group_array(key) from (select key from user.keys where kind = 'id' order by num)),
  'merges', (select json_group_array(json_array(num, uri, target)) from user.merges))
where (${COUNT}) > 0 or exists (select 1 from user.merges)
`)
const findKnown = finding<[packed: string, home: string], { readonly known: number; readonly hasMerges: 0 | 1 }>(`
select packed ->> 'known' as known, ifnull((select max(value ->> 0) from json_each(packed, '$.merges')), 0) > (
  select ifnull(max(num), 0) from user.merges
) as hasMerges
from (select ? as packed) where packed ->> 'home' = ?
`)
const TAKE = [
  `insert or ignore into user.bars (kind, hash) select value ->> 0, value ->> 1 from json_each(?, '$.bars')`,
  `insert or ignore into user.keys (kind, key) select 'id', value from json_each(?, '$.keys')`,
  `delete from user.merges where (select max(value ->> 0) from json_each(?, '$.merges')) > (select max(num) from user.merges)`,
  `insert into user.merges (num, uri, target)
  select value ->> 0, value ->> 1, value ->> 2 from json_each(?, '$.merges') where not exists (select 1 from user.merges)`,
]

/** Several machines may use one archive folder. */
const homeOf = (mirrorPath: string): string => digest('sha256', `${hostname()}\0${dirname(mirrorPath)}`)

/** The bars that go with an archive; null if there are none. */
export function packBars(mirrorPath: string): string | null {
  const db = openBars(mirrorPath)
  try {
    return ofUser(() => pack(db, homeOf(mirrorPath)))
  } finally {
    db.close()
  }
}

/** What is beside an archive, if it is more than is here. Null too if another machine or data folder wrote it. */
function morePacked(db: Mirror, archiveDir: string): { readonly packed: string; readonly known: number } | null {
  const held = countBars(db)
  try {
    const packed = readRegular(join(archiveDir, BARS_FILE), BARS_BYTES_MAX).toString()
    const read = findKnown(db, packed, homeOf(db.name))
    if (read !== undefined && (read.known > held || read.hasMerges === 1)) return { packed, known: read.known }
  } catch {
    // There are none, or another program's file has the name.
  }
  return null
}

/** Takes from the bars and merges beside an archive what is missing. */
export function takePacked(db: Mirror, archiveDir: string): void {
  const more = morePacked(db, archiveDir)
  if (more === null) return
  ofUser(() => db.transaction(() => TAKE.forEach((sql) => prepared(db, sql).run(more.packed)))())
  noteStage(db, 'known', more.known)
}

/** Whether no bar is missing, also none that an archive has, and all are honoured. @param db a reader of the mirror */
export function hasAllBars(db: Mirror, archiveDir: string): boolean {
  db.prepare('attach ? as user').run(userFile(db.name))
  try {
    return countLost(db) === 0 && isDone(db, 'rows') && morePacked(db, archiveDir) === null
  } finally {
    db.exec('detach user')
  }
}

const HAS_OLD = `select 1 from sqlite_schema where name = 'tombstones'`
const LIST_OLD = `select kind, hash, size from tombstones`
const LIST_SALTS = `select salt from purge_salt`

/**
 * Takes over what an older version kept in the mirror, and the key that it kept in a file. The hashes are made alike, so
 * they hold on. @param from the mirror, or a damaged one
 */
export function takeTombstones(db: Mirror, from: Mirror, mirrorPath: string): void {
  if (from.prepare(HAS_OLD).get() === undefined) return
  const keyFile = join(dirname(mirrorPath), 'purge.key')
  db.transaction(() => {
    for (const row of from.prepare<[], string[]>(LIST_OLD).raw().all()) db.prepare(ADD).run(row)
    for (const salt of from.prepare<[], string>(LIST_SALTS).pluck().all()) db.prepare(ADD_KEY).run('id', salt)
    if (existsSync(keyFile)) db.prepare(ADD_KEY).run('text', readRegular(keyFile, 1024).toString().trim())
  })()
  rmSync(keyFile, { force: true })
}
