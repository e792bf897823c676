import type { Mirror } from '../open.ts'
import { inserting, asking, counting, findingValue, listing, listingValues, prepared, writing } from '../sql.ts'
import { addCalls, replaceCalls, rowsOf, type packParts, parseParts } from './pack-message.ts'
import { chatNum } from './chat-columns.ts'
import type { WriteTools } from './write.ts'
import { CALL_CHAT_PREFIX } from '../../model/chat.ts'
import { type ChatId, type MessageId, asMessageId } from '../../model/ids.ts'
import type { CallFact, Role, TimeSource } from '../../model/message.ts'
import { hash as digest } from 'node:crypto'
import type { OutlineEntry } from '../../model/thread.ts'
import { sourceIdOf } from '../sources/sources.ts'
import { textsOf } from '../purge/scope.ts'
import type { ChatChange, MessageWrite } from '../../model/change.ts'

/** The columns of `messages`, except key, chat and body. This one list drives every insert, select, update and compare. */
const emptyColumns = {
  source: 0,
  id: '' as MessageId,
  role: 'user' as Role,
  alias: null as MessageId | null,
  position: null as number | null,
  created_at: null as number | null,
  created_at_source: null as TimeSource | null,
  sent_at: null as number | null,
  started_at: null as number | null,
  timing_at: null as number | null,
  model: null as string | null,
  input_tokens: null as number | null,
  output_tokens: null as number | null,
  estimated_input: null as number | null,
  estimated_output: null as number | null,
  request_id: null as string | null,
  /** 0: in the thread. 1: the chat does not name it. 2: a copy from another source of text in the thread. */
  is_orphan: 0,
  is_shadowed: 0,
  is_simulated: 0,
  is_embedded: 0,
  is_live: 0,
  deleted_at: null as number | null,
  tool_calls: 0,
  octets: 0,
  content_hash: '',
  user_text: null as number | null,
  text_keys: null as string | null,
  /** JSON: the result of `marksOf` for its parts. */
  marks: '',
  is_index_capped: 0,
}

export type MessageColumns = Readonly<typeof emptyColumns>
export type HeldMessage = MessageColumns & { readonly key: number; readonly body: number }

export const placeColumns = ['position', 'created_at', 'created_at_source', 'is_orphan', 'is_shadowed'] as const
/** A message's position and time. */
export type Place = Pick<MessageColumns, (typeof placeColumns)[number]>

/** What is said of a message. Its place follows from what is said of the whole chat. */
export type SaidMessage = Omit<MessageColumns, keyof Place>

/** The next state of a message, except for its place. `partsJson` and `calls` are set if the message was read again. */
export interface NextMessage {
  readonly held: HeldMessage | null
  readonly columns: SaidMessage
  readonly partsJson: string | null
  readonly calls: readonly CallFact[] | null
}

/** The columns that follow from a message's parts. */
export const contentColumns = (message: ReturnType<typeof packParts>, { isEstimating }: WriteTools) => ({
  estimated_input: isEstimating ? message.estimate.input : null,
  estimated_output: isEstimating ? message.estimate.output : null,
  tool_calls: message.calls.length,
  content_hash: message.contentHash,
  user_text: message.userText,
  text_keys: message.textKeys,
  marks: message.marks,
  is_index_capped: message.isIndexCapped ? 1 : 0,
})

const COLUMNS = Object.keys(emptyColumns) as (keyof MessageColumns)[]
const SAVED_COLUMNS = ['key', ...COLUMNS] as const
const emptyHeld: HeldMessage = { key: 0, body: 0, ...emptyColumns }
const HELD_COLUMNS = Object.keys(emptyHeld) as (keyof HeldMessage)[]

const SELECT = `select ${HELD_COLUMNS.join(', ')} from messages where chat = ?`
const FIND = `${SELECT} and id = ? and source = ?`

/** Columns whose few texts repeat. SQLite gives each row a text of its own. */
const REPEATING = new Set<keyof HeldMessage>(['role', 'created_at_source', 'model', 'marks'])

/** Rows are read as arrays: better-sqlite3 takes nearly twice as long to make an object of so many columns. */
function heldOf(row: readonly unknown[], texts: Map<unknown, unknown>): HeldMessage {
  const held: Record<string, unknown> = { ...emptyHeld }
  for (const [at, column] of HELD_COLUMNS.entries()) {
    const value = row[at]
    if (REPEATING.has(column) && !texts.has(value)) texts.set(value, value)
    held[column] = REPEATING.has(column) ? texts.get(value) : value
  }
  return held as unknown as HeldMessage
}

/** All messages of a chat. A chat of thousands is listed whenever one of its messages is written. */
export function listMessages(db: Mirror, chat: number): HeldMessage[] {
  const texts = new Map()
  const rows = prepared(db, SELECT).raw().iterate(chat) as IterableIterator<readonly unknown[]>
  return Array.from(rows, (row) => heldOf(row, texts))
}

export function findMessage(db: Mirror, chat: number, id: MessageId, source: number): HeldMessage | null {
  const row = prepared(db, FIND).raw().get(chat, id, source) as readonly unknown[] | undefined
  return row === undefined ? null : heldOf(row, new Map())
}

/** A source's live messages of a chat, in order. */
export function listLiveMessages(db: Mirror, chatId: ChatId, source: number): HeldMessage[] {
  const chat = chatNum(db, chatId)
  const placeOf = ({ position }: HeldMessage): number => position ?? Number.MAX_SAFE_INTEGER
  return (chat === null ? [] : listMessages(db, chat))
    .filter((message) => message.source === source && message.is_live === 1)
    .sort((one, other) => placeOf(one) - placeOf(other) || one.key - other.key)
}

const listDelegated = listingValues<[{ readonly parent: ChatId; readonly text: number }], ChatId>(`
select distinct chats.id from chat_links
cross join chats on chats.id = chat_links.child_id and chats.id glob '${CALL_CHAT_PREFIX}*' and chats.machine is null
cross join messages on messages.chat = chats.num and messages.user_text = @text
where chat_links.parent_id = @parent limit 2
`)

/**
 * The subagent of a chat that has this prompt and whose id is made of the id of the call that started it. Null if there is
 * none, or more than one.
 * @param text the prompt's `textKey`
 */
export function findDelegated(db: Mirror, parent: ChatId, text: number): ChatId | null {
  const [found = null, ...others] = listDelegated(db, { parent, text })
  return others.length === 0 ? found : null
}

/** A message with a call that wrote a plan. */
export interface Planner {
  readonly chatId: ChatId
  readonly id: MessageId
  /** All its parts, as JSON. */
  readonly parts: string
}

/** All messages of this machine's chats that wrote plans, in order of their chats. */
export const listPlanners = listing<[], Planner>(`
select chats.id as chatId, messages.id, bodies.parts from calls
cross join messages on messages.body = calls.body and messages.is_orphan = 0 and messages.tool_calls > 0
cross join chats on chats.num = messages.chat and chats.machine is null
cross join bodies on bodies.num = messages.body
where calls.file = 0 and calls.tool in (
  select name from names where kind = 'tool' and replace(lower(name), '_', '') = 'createplan'
)
order by chats.id, messages.position, messages.id
`)

/** The ids of all messages of a chat, from any source. */
export const listMessageIds = listingValues<[ChatId], MessageId>(
  `select m.id from messages m join chats c on c.num = m.chat where c.id = ?`,
)

const addRows = inserting(
  `messages (key, chat, body, ${COLUMNS.join(', ')})`,
  `(?, ?, ?${', ?'.repeat(COLUMNS.length)})`,
)
const ADD_BODY = `insert into bodies (parts) values (?)`
const saveBody = writing<[partsJson: string, body: number]>(`update bodies set parts = ? where num = ?`)
const findParts = findingValue<[body: number], string>(`select parts from bodies where num = ?`)

/** The stored parts of a message, as JSON. */
export function readParts(db: Mirror, body: number): string {
  const parts = findParts(db, body)
  if (parts === null) throw new Error('a message has no body')
  return parts
}

/**
 * Saves a message with its body. Its key changes with its time. It notes what changed for the index, which has no row of a
 * message if the thread already has the same content. New rows are written together, by `writeAdded`.
 * @returns whether anything changed
 */
export function saveMessage(
  db: Mirror,
  chat: number,
  { held, partsJson, calls }: NextMessage,
  columns: MessageColumns,
  tools: WriteTools,
): boolean {
  const { indexed, keys, added } = tools
  if (held === null) {
    if (partsJson === null) throw new Error('a new message needs its body')
    const key = keys.next(columns.created_at, columns.position)
    const { lastInsertRowid: body } = prepared(db, ADD_BODY).run(partsJson)
    added.rows.push([key, chat, body, ...COLUMNS.map((column) => columns[column])])
    for (const row of rowsOf(body, calls ?? [])) added.calls.push(row)
    if (columns.is_shadowed === 0) indexed.add(key)
    noteNames(tools, columns)
    return true
  }
  const hasNewBody = partsJson !== null && readParts(db, held.body) !== partsJson
  const key = held.created_at === columns.created_at ? held.key : keys.next(columns.created_at, columns.position)
  const next = { ...columns, key }
  const changed = SAVED_COLUMNS.filter((column) => held[column] !== next[column])
  if (!hasNewBody && changed.length === 0) return false
  const isSameContent = held.content_hash === columns.content_hash && held.marks === columns.marks
  if (key !== held.key || !isSameContent || held.is_shadowed !== columns.is_shadowed) {
    if (held.is_shadowed === 0) indexed.add(held.key)
    if (columns.is_shadowed === 0) indexed.add(key)
  }
  if (changed.length > 0) {
    const values = changed.map((column) => next[column])
    // Only what changed: SQLite rewrites the entries of every index over a column that is set, even to the same value.
    const set = changed.map((column) => `${column} = ?`).join(', ')
    prepared(db, `update messages set ${set} where key = ?`).run(...values, held.key)
  }
  if (hasNewBody) {
    saveBody(db, partsJson, held.body)
    replaceCalls(db, held.body, calls ?? [])
  }
  noteNames(tools, columns)
  return true
}

function noteNames(tools: WriteTools, { marks, model }: MessageColumns): void {
  if (marks.includes('tool:')) tools.marks.add(marks)
  if (model !== null) tools.models.add(model)
}

export function writeAdded(db: Mirror, { added }: WriteTools): void {
  addRows(db, added.rows.splice(0))
  addCalls(db, added.calls.splice(0))
}

/** Number of keys per millisecond. If more messages have the same time, they use keys of the next millisecond. */
export const SLOTS_PER_MS = 1024

/**
 * The lowest key that a message of this time can have. Keys grow with time, with 1,024 keys per millisecond; they stay
 * below 2^53 until the year 2248. A message without a time sorts before all others.
 * @param createdAtMs epoch milliseconds, or null if unknown
 */
export function sortKeyFloor(createdAtMs: number | null): number {
  return createdAtMs === null ? 1 : Math.max(1, Math.floor(createdAtMs)) * SLOTS_PER_MS
}

/** A key that was freed is not given again before the index has taken that: its old row would be found. */
const isTaken = asking<[{ readonly key: bigint }]>(
  `select 1 from messages where key = @key union all select 1 from index_changes where key = @key limit 1`,
)
const lastUntimedKey = counting<[{ readonly below: bigint }]>(`
select max(key) from (
  select max(key) as key from messages where key < @below
  union all select max(key) from index_changes where key between 0 and @below
)
`)

/**
 * Assigns keys to messages during one transaction: the first free key at or after the message's time; within the
 * millisecond, the position decides, but no key is below one that was assigned before: all messages of a chat without own times share one
 * millisecond, and so may several chats that were created at once. An assigned key need not be written before the next one
 * is asked for.
 */
export class KeyAllocator {
  readonly #db: Mirror
  /** The key after the last one that was assigned in a millisecond, by the first key of the millisecond. */
  readonly #after = new Map<number, number>()
  readonly #assigned = new Set<number>()
  #lastUntimed: number | null = null

  constructor(db: Mirror) {
    this.#db = db
  }

  /** @param createdAtMs epoch milliseconds, or null if unknown: such keys are lower than all others */
  next(createdAtMs: number | null, position: number | null): number {
    if (createdAtMs === null) {
      const below = BigInt(sortKeyFloor(1e9))
      this.#lastUntimed ??= lastUntimedKey(this.#db, { below })
      return (this.#lastUntimed += 1)
    }
    const floor = sortKeyFloor(createdAtMs)
    const wanted = floor + Math.min(position ?? 0, SLOTS_PER_MS - 1)
    let key = Math.max(wanted, this.#after.get(floor) ?? 0)
    while (this.#assigned.has(key) || isTaken(this.#db, { key: BigInt(key) })) key += 1
    this.#assigned.add(key)
    this.#after.set(floor, key + 1)
    return key
  }
}

// The id of a message without one is made of its chat and its place. Two stores, or one at two times, can have other
// words at the same place: each of these messages then gets an id of its own, so that all of them are kept.

const madeFrom = (...identity: readonly string[]): MessageId =>
  asMessageId(`made-${digest('sha256', JSON.stringify(identity)).slice(0, 32)}`)

const listOthers = listing<[{ readonly chat: number; readonly source: number }], Rival>(`
select messages.id, source, content_hash as contentHash, sources.id as store,
  path < (select path from sources where num = @source) as isFirst
from messages join sources on sources.num = source
where chat = @chat and source <> @source and kind = (select kind from sources where num = @source)
`)
const listLive = listingValues<[chat: number, source: number], MessageId>(
  `select id from messages where chat = ? and source = ? and is_live = 1`,
)
const RENAME = `update or ignore messages set id = ? where chat = ? and id = ? and source = ?`
const RENAME_LISTED = `update outlines set entries = replace(entries, ?, ?) where chat = ? and source = ?`

interface Rival {
  readonly id: MessageId
  readonly source: number
  readonly contentHash: string
  readonly store: string
  readonly isFirst: number
}

/** Messages of other stores of this kind that have other words under the id of one of these messages. */
function listRivals(db: Mirror, num: number, source: number, messages: readonly MessageWrite[]): readonly Rival[] {
  const contents = new Map(messages.map(({ id, contentHash }) => [id, contentHash]))
  return listOthers(db, { chat: num, source }).filter(
    ({ id, contentHash }) => contents.has(id) && contents.get(id) !== contentHash,
  )
}

/**
 * A chat in which no id names other words than in another store of this kind. Of two such stores, the one with the first
 * path keeps the id of the place, so the ids do not depend on which store was read first. A message that has an id of its
 * own keeps it if the other store's message is purged; else it would count as lost.
 */
export function withOwnIds(db: Mirror, source: number, chat: ChatChange): ChatChange {
  const { ownRow } = chat
  const num = chat.isByPlace === true ? chatNum(db, chat.id) : null
  if (num === null || ownRow.kind !== 'read') return chat
  const rivals = listRivals(db, num, source, chat.messages).filter(({ isFirst }) => isFirst === 1)
  const store = sourceIdOf(db, source)
  const live = new Set(listLive(db, num, source))
  const renamed =
    live.size === 0 ? [] : chat.messages.filter(({ id }) => !live.has(id) && live.has(madeFrom(id, store)))
  const names = new Map([...rivals, ...renamed].map(({ id }) => [id, madeFrom(id, store)]))
  if (names.size === 0) return chat
  const nameOf = (id: MessageId): MessageId => names.get(id) ?? id
  const rename = (entry: OutlineEntry): OutlineEntry => (entry.id === null ? entry : { ...entry, id: nameOf(entry.id) })
  return {
    ...chat,
    messages: chat.messages.map((message) => ({ ...message, id: nameOf(message.id) })),
    ownRow: {
      ...ownRow,
      embeddedIds: new Set([...ownRow.embeddedIds].map(nameOf)),
      outline: ownRow.outline?.map(rename) ?? null,
    },
  }
}

/** Gives messages of other stores that must leave their ids to this one the ids that reading them again would give them. */
export function renameRivals(db: Mirror, num: number, source: number, { messages }: ChatChange): void {
  for (const { id, source: of, store } of listRivals(db, num, source, messages)) {
    const own = madeFrom(id, store)
    // If it has that id already, reading it again settles both.
    if (prepared(db, RENAME).run(own, num, id, of).changes > 0) prepared(db, RENAME_LISTED).run(id, own, num, of)
  }
}

/**
 * The former message if a message was rewritten with other words. It was not if its words are elsewhere in the chat now,
 * or if they are the beginning of the new ones, as in an answer that is still being written.
 */
export function replacedMessage(
  db: Mirror,
  held: HeldMessage,
  message: MessageWrite,
  { messages }: ChatChange,
  nowMs: number,
): NextMessage | null {
  if (held.content_hash === message.contentHash) return null
  if (messages.some(({ contentHash }) => contentHash === held.content_hash)) return null
  const now = textsIn(message.partsJson)
  if (textsIn(readParts(db, held.body)).every((text) => now.some((longer) => longer.startsWith(text)))) return null
  const deleted_at = held.is_live === 1 ? nowMs : held.deleted_at
  const columns = { ...held, id: madeFrom(held.id, held.content_hash), is_live: 0, deleted_at }
  return { held, columns, partsJson: null, calls: null }
}

const textsIn = (partsJson: string): readonly string[] => textsOf(parseParts(partsJson))
