import type { Aside, AsideTask } from '../aside.ts'
import {
  FreshTerms,
  dropTerms,
  writeTerms,
  type MessageTerms,
  addTerms,
  cutParts,
  listTerms,
  listingTerms,
  writeDictionary,
} from './terms.ts'
import type { Change } from '../../model/change.ts'
import { CACHE_KB, type Mirror, openReader } from '../open.ts'
import { prepared } from '../sql.ts'
import { countNext, countUncounted } from '../usage/estimates.ts'
import { fillTitles } from '../write/chat-columns.ts'

const NOTE = `insert into unindexed (key) values (?)`
const TAKE = `delete from unindexed where key = ?`
const COUNT = `select count(*) as count from unindexed`

export function noteUnindexed(db: Mirror, key: number): void {
  prepared(db, NOTE).run(key)
  noteBacklogChange(db)
}

/** @returns whether the message was in the backlog */
export function takeFromBacklog(db: Mirror, key: number): boolean {
  const isTaken = prepared(db, TAKE).run(key).changes > 0
  if (isTaken) noteBacklogChange(db)
  return isTaken
}

/** How many messages are stored but not yet in the full-text index. */
export function countBacklog(db: Mirror): number {
  return prepared<{ count: number }>(db, COUNT).get()?.count ?? 0
}

/** For fewer messages, another thread is not worth its start. */
const AHEAD_MIN = 2000

/**
 * Indexes the newest part of the backlog in one transaction, large enough that FTS5 writes large segments and rarely merges
 * them. If the process is killed, each message either has its full-text row or is still in the backlog.
 * @param ahead cuts terms on another thread
 * @returns how many messages were indexed; 0 if the backlog is empty, or if nothing is cut yet
 */
export function indexBacklog(db: Mirror, ahead: CutAhead | null = null): number {
  const given = ahead === null || (!ahead.isAtWork && countBacklog(db) < AHEAD_MIN) ? null : ahead.take(db)
  if (given === 'later') return 0
  return listingTerms(db, () => {
    const messages = given?.messages ?? cutNewest(db, Number.MAX_SAFE_INTEGER)
    const last = messages.at(-1)
    if (last === undefined) return 0
    // A migration that rebuilds the index leaves titles without a row, too.
    fillTitles(db)
    // FTS5 flushes its buffer at each rowid that is less than the previous one.
    for (const { key, terms } of messages.toReversed()) {
      addTerms(db, key, terms)
      if (given === null) writeDictionary(db, terms)
    }
    if (given !== null) listTerms(db, given.listed)
    prepared(db, TAKE_NEWEST).run(BigInt(last.key))
    noteLooseRows(db, messages.length)
    return messages.length
  })
}

const TAKE_NEWEST = `delete from unindexed where key >= ?`

const NOTE_UNLISTED = `insert into unlisted (key) values (?) on conflict do nothing`
const COUNT_UNLISTED = `select count(*) as count from unlisted`

/** Indexes a message. `listSome` adds its terms to the list of terms later. */
export function writeUnlisted(db: Mirror, key: number, terms: MessageTerms): void {
  addTerms(db, key, terms)
  prepared(db, NOTE_UNLISTED).run(BigInt(key))
}

/** How many messages are indexed, but may have terms that are not in the list of terms yet. */
const countUnlisted = (db: Mirror): number => prepared<{ count: number }>(db, COUNT_UNLISTED).get()?.count ?? 0

/** Messages per transaction; they take about 100 ms. */
const LISTED_MAX = 500
/** A message that was moved or removed since has no row under its former key. */
const LIST_UNLISTED = `
select unlisted.key, bodies.parts
from unlisted left join messages on messages.key = unlisted.key left join bodies on bodies.num = messages.body
order by unlisted.key limit ${LISTED_MAX}
`
const TAKE_LISTED = `delete from unlisted where key <= ?`

/**
 * Adds the terms of some waiting messages to the list of terms, in one transaction. If the process is killed, each
 * message either has its terms in the list or still waits.
 * @returns how many messages; 0 if none waits
 */
export function listSome(db: Mirror): number {
  return listingTerms(db, () => {
    const waiting = prepared<{ key: number; parts: string | null }>(db, LIST_UNLISTED).all()
    const last = waiting.at(-1)
    if (last === undefined) return 0
    for (const { parts } of waiting) if (parts !== null) writeDictionary(db, cutParts(parts))
    prepared(db, TAKE_LISTED).run(BigInt(last.key))
    return waiting.length
  })
}

const COUNT_UNPLACED = `select count(*) as count from unplaced`

/** How many chats have messages with temporary places, or times by an older rule. */
const countUnplaced = (db: Mirror): number => prepared<{ count: number }>(db, COUNT_UNPLACED).get()?.count ?? 0

/**
 * All deferred work: messages whose terms are not listed, messages that are not indexed, chats whose messages are not
 * counted, chats whose messages are to be placed.
 */
export const countWaiting = (db: Mirror): number =>
  countUnlisted(db) + countBacklog(db) + countUnplaced(db) + countUncounted(db)

/** Does some of the deferred work in one transaction, the most urgent kind first. @returns how many items; 0 if none waits */
export const workOffSome = (db: Mirror, ahead: CutAhead | null = null): number =>
  listSome(db) || indexBacklog(db, ahead) || countNext(db)

/** The newest messages of the backlog with their terms, newest first. */
export interface CutMessages {
  readonly messages: readonly { readonly key: number; readonly terms: MessageTerms }[]
  /** Their terms for the list of terms, without those of newer batches. */
  readonly listed: readonly string[]
}

/** The same in a form that is cheap to hand to another thread. */
interface CutBatch {
  readonly keys: Float64Array
  /** Where the columns of each message end in `bytes`. */
  readonly ends: Uint32Array
  readonly bytes: Uint8Array
  readonly listed: readonly string[]
}

export interface CutOrder {
  readonly mirrorPath: string
}

/** Messages and characters of one batch, and of one transaction that indexes it. */
const MESSAGES_MAX = 4000
const LENGTH_MAX = 8 * 1024 * 1024

const LIST_NEWEST = `
select unindexed.key, bodies.parts
from unindexed cross join messages on messages.key = unindexed.key cross join bodies on bodies.num = body
where unindexed.key < ? order by unindexed.key desc limit ${MESSAGES_MAX}
`

/** @param below all keys are lower @returns at least one message, unless none is left */
export function cutNewest(db: Mirror, below: number): CutMessages['messages'] {
  const cut: { key: number; terms: MessageTerms }[] = []
  let length = 0
  for (const { key, parts } of prepared<{ key: number; parts: string }>(db, LIST_NEWEST).iterate(below)) {
    cut.push({ key, terms: cutParts(parts) })
    length += parts.length
    if (length > LENGTH_MAX) break
  }
  return cut
}

/** The task `cut-terms` of the other thread: cuts the whole backlog with a connection of its own. */
export function* cutBacklog({ mirrorPath }: CutOrder): Generator<CutBatch, void> {
  const db = openReader(mirrorPath, 2000)
  try {
    const fresh = new FreshTerms()
    for (let below = Number.MAX_SAFE_INTEGER; ;) {
      const messages = cutNewest(db, below)
      const last = messages.at(-1)
      if (last === undefined) return
      below = last.key
      const columns = messages.flatMap(({ terms }) => terms)
      const bytes = new Uint8Array(columns.reduce((sum, column) => sum + column.length, 0))
      const ends = new Uint32Array(columns.length)
      let at = 0
      for (const [index, column] of columns.entries()) {
        bytes.set(column, at)
        at += column.length
        ends[index] = at
      }
      const keys = Float64Array.from(messages, ({ key }) => key)
      yield { keys, ends, bytes, listed: messages.flatMap(({ terms }) => fresh.of(terms)) }
    }
  } finally {
    db.close()
  }
}

const versions = new WeakMap<Mirror, number>()

/** Call it whenever a message is added to the backlog, or taken from it without being indexed. */
export function noteBacklogChange(db: Mirror): void {
  versions.set(db, (versions.get(db) ?? 0) + 1)
}

const LIST_KEYS = `select key from unindexed where key >= ? order by key desc`

/** Takes terms that another thread cut. Everything that could be outdated is cut again. */
export class CutAhead {
  readonly #aside: Aside
  readonly #mirrorPath: string
  #task: AsideTask<CutBatch> | null = null
  /** The backlog for which the task was started. */
  #of: { readonly db: Mirror; readonly version: number | undefined } | null = null

  constructor(aside: Aside, mirrorPath: string) {
    this.#aside = aside
    this.#mirrorPath = mirrorPath
  }

  get isAtWork(): boolean {
    return this.#task !== null
  }

  /** @returns `later` while they are being cut; null if the caller has to cut them */
  take(db: Mirror): CutMessages | 'later' | null {
    const version = versions.get(db)
    if (this.#task !== null && (this.#of?.db !== db || this.#of.version !== version)) this.end()
    if (this.#task === null) {
      const order: CutOrder = { mirrorPath: this.#mirrorPath }
      this.#task = this.#aside.start<CutBatch>('cut-terms', order)
      this.#of = { db, version }
    }
    const taken = this.#task?.take() ?? { kind: 'failed' }
    if (taken.kind === 'later') return 'later'
    if (taken.kind !== 'value' || !isNewest(db, taken.value.keys)) {
      this.end()
      return null
    }
    return messagesOf(taken.value)
  }

  end(): void {
    this.#task?.cancel()
    this.#task = null
  }
}

function isNewest(db: Mirror, keys: Float64Array): boolean {
  const last = keys.at(-1) ?? 0
  const there = prepared<number>(db, LIST_KEYS).pluck().all(BigInt(last))
  return there.length === keys.length && there.every((key, at) => key === keys[at])
}

function messagesOf({ keys, ends, bytes, listed }: CutBatch): CutMessages {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const perMessage = ends.length / keys.length
  const column = (at: number): Buffer => whole.subarray(at === 0 ? 0 : ends[at - 1], ends[at])
  const messages = Array.from(keys, (key, index) => ({
    key,
    terms: Array.from({ length: perMessage }, (_, at) => column(index * perMessage + at)),
  }))
  return { messages, listed }
}

/** From this number of added rows on, merging is worthwhile. */
const ROWS_MIN = 4000
/** Pages of 16 KB per step; a step takes about 20 ms. */
const PAGES = 150

interface UnmergedRows {
  readonly rows: number
  readonly isBegun: boolean
}

/** Full-text rows in separate segments, each with its own list of words. Large transactions leave these behind. */
const unmerged = new WeakMap<Mirror, UnmergedRows>()

export function noteLooseRows(db: Mirror, rows: number): void {
  unmerged.set(db, { rows: rows + (unmerged.get(db)?.rows ?? 0), isBegun: false })
}

/**
 * How many segments of one level there must be before FTS5 merges some of their pages with each write (0: never), and
 * before it merges all at once.
 */
const SETTINGS = { steady: [16, 16], filling: [0, 1000] } as const
type Merging = keyof typeof SETTINGS

const READ_SETTING = `select v from message_terms_config where k = 'automerge'`
const WRITE_SETTINGS = `insert into message_terms (message_terms, rank) values ('automerge', ?), ('crisismerge', ?)`

const isSet = (db: Mirror, merging: Merging): boolean =>
  prepared<number>(db, READ_SETTING).pluck().get() === SETTINGS[merging][0]

function set(db: Mirror, merging: Merging): void {
  const [automerge, crisismerge] = SETTINGS[merging]
  if (!isSet(db, merging)) prepared(db, WRITE_SETTINGS).run(BigInt(automerge), BigInt(crisismerge))
}

/**
 * Call this before very many rows are added. FTS5 then merges nothing, because it would write the same rows several times,
 * until `mergeSome` has merged them all. The mirror remembers it, so that a kill in between changes nothing.
 */
export const mergeLater = (db: Mirror): void => set(db, 'filling')

/** Whether merging would shrink the tables by about 5%. The count is not stored: it may be lost when the program ends. */
export const needsMerge = (db: Mirror): boolean => (unmerged.get(db)?.rows ?? 0) >= ROWS_MIN || isSet(db, 'filling')

const MERGE = `insert into message_terms (message_terms, rank) values ('merge', ?)`
const CHANGES = `select total_changes() as count`

/** One step of merging the full-text rows. Repeat it until `needsMerge` is false; then all rows are in one segment. */
export function mergeSome(db: Mirror): void {
  const { rows, isBegun } = unmerged.get(db) ?? { rows: 0, isBegun: false }
  const count = (): number => prepared<{ count: number }>(db, CHANGES).get()?.count ?? 0
  const before = count()
  // A negative number makes FTS5 merge all segments, not only those of one level.
  prepared(db, MERGE).run(BigInt(isBegun ? PAGES : -PAGES))
  // The statement itself counts as one change; see "The 'merge' Command" in the FTS5 manual.
  if (count() - before < 2) {
    unmerged.delete(db)
    set(db, 'steady')
  } else {
    unmerged.set(db, { rows, isBegun: true })
  }
}

/**
 * Runs a long write whose rows can all be read from their source again. Commits are not synced to the disk one by one.
 * Checkpoints are rarer and the page cache is larger, because many pages are written repeatedly. A power cut may lose the
 * last commits but keeps their order. The next commit with `synchronous = full` makes all of them durable.
 */
export async function inBulk<End>(db: Mirror, write: () => Promise<End>): Promise<End> {
  db.pragma('synchronous = normal')
  db.pragma('wal_autocheckpoint = 4000')
  db.pragma('cache_size = -24000')
  try {
    return await write()
  } finally {
    // The mirror may be closed already if the program ends in the middle.
    if (db.open) {
      db.pragma('wal_autocheckpoint = 1000')
      db.pragma(`cache_size = -${CACHE_KB}`)
      db.pragma('synchronous = full')
    }
  }
}

/** Frees the page cache that bulk writing filled. */
export function shrinkMemory(db: Mirror): void {
  db.pragma('shrink_memory')
}

const SYNCHRONOUS_FULL = 2
const TOUCH = `update sources set num = num where num = ?`

/**
 * Makes all former commits durable, also during bulk writing: the data just written may exist nowhere else any more. One
 * commit with `synchronous = full` syncs all earlier ones.
 */
export function sealCommits(db: Mirror, source: number): void {
  if (Number(db.pragma('synchronous', { simple: true })) >= SYNCHRONOUS_FULL) return
  db.pragma('synchronous = full')
  try {
    prepared(db, TOUCH).run(source)
  } finally {
    db.pragma('synchronous = normal')
  }
}

/** Which parts of writing full-text rows are deferred. */
type Deferral = Pick<Change, 'isIndexedLater' | 'isListedLater'>

/**
 * Collects the full-text rows of one transaction and writes them in order of their keys. FTS5 flushes its buffer whenever
 * a rowid is less than the previous one. Chats are read newest first, so it would flush for every chat otherwise.
 */
export class PendingTerms {
  readonly #added = new Map<number, string>()
  readonly #dropped = new Set<number>()

  /** @param partsJson the message's parts as stored */
  add(key: number, partsJson: string): void {
    this.#added.set(key, partsJson)
  }

  drop(key: number): void {
    if (!this.#added.delete(key)) this.#dropped.add(key)
  }

  write(db: Mirror, { isIndexedLater, isListedLater }: Deferral): void {
    const write = isListedLater ? writeUnlisted : writeTerms
    // A message in the backlog has no full-text row yet.
    for (const key of inOrder(this.#dropped)) if (!takeFromBacklog(db, key)) dropTerms(db, key)
    for (const key of inOrder(this.#added.keys())) {
      if (isIndexedLater) noteUnindexed(db, key)
      else write(db, key, cutParts(this.#added.get(key) ?? '[]'))
    }
  }
}

const inOrder = (keys: Iterable<number>): number[] => [...keys].sort((a, b) => a - b)
