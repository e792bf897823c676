import { searchColumns } from '../text/columns.ts'
import { indexTerms } from '../text/terms.ts'
import type { Part } from '../model/part.ts'
import type { Mirror } from './open.ts'
import { prepared } from './prepared.ts'
import { sortKeyFloor } from './sort-key.ts'
import type { HeldMessage, MessageBody, MessageColumns, NextMessage } from './write-thread.ts'

const COLUMNS = [
  'id',
  'role',
  'alias',
  'position',
  'created_at',
  'created_at_source',
  'sent_at',
  'started_at',
  'timing_at',
  'model',
  'input_tokens',
  'output_tokens',
  'is_orphan',
  'is_shadowed',
  'is_simulated',
  'is_embedded',
  'is_live',
  'deleted_at',
  'tool_calls',
  'octets',
  'content_hash',
  'is_index_capped',
] as const satisfies readonly (keyof MessageColumns)[]

const ADD_MESSAGE = `insert into messages (key, chat, ${COLUMNS.join(', ')}) values (?, ?${', ?'.repeat(COLUMNS.length)})`
const SAVE_MESSAGE = `update messages set key = ?, ${COLUMNS.map((column) => `${column} = ?`).join(', ')} where key = ?`

/**
 * Writes one message with its body and its full-text row, which follows the message: into another place when its time
 * changed, out of the index when the thread holds the same content already.
 * @returns whether anything differed from what the mirror held
 */
export function saveMessage(db: Mirror, chatNum: number, { held, columns, body }: NextMessage): boolean {
  const values = COLUMNS.map((column) => columns[column])
  if (held === null) {
    if (body === null) throw new Error('a new message needs its body')
    const key = freeKey(db, columns)
    prepared(db, ADD_MESSAGE).run(key, chatNum, ...values)
    prepared(db, ADD_BODY).run(key, body.partsJson)
    if (columns.is_shadowed === 0) addTerms(db, key, body.searchable)
    return true
  }
  const hasNewBody = body !== null && readParts(db, held.key) !== body.partsJson
  if (!hasNewBody && isSame(held, columns)) return false
  const key = held.created_at === columns.created_at ? held.key : freeKey(db, columns)
  moveTerms(db, held, columns, key, body)
  prepared(db, SAVE_MESSAGE).run(key, ...values, held.key)
  if (hasNewBody) prepared(db, SAVE_BODY).run(body.partsJson, held.key)
  if (key !== held.key) prepared(db, MOVE_BODY).run(key, held.key)
  return true
}

const ADD_BODY = `insert into bodies (key, parts) values (?, ?)`
const SAVE_BODY = `update bodies set parts = ? where key = ?`
const MOVE_BODY = `update bodies set key = ? where key = ?`
const READ_PARTS = `select parts from bodies where key = ?`

function readParts(db: Mirror, key: number): string {
  const row = prepared<{ parts: string }>(db, READ_PARTS).get(key)
  if (row === undefined) throw new Error('a message has no body')
  return row.parts
}

function isSame(held: HeldMessage, columns: MessageColumns): boolean {
  return COLUMNS.every((column) => {
    const [was, is] = [held[column], columns[column]]
    return Buffer.isBuffer(was) && Buffer.isBuffer(is) ? was.equals(is) : was === is
  })
}

const NEXT_KEYS = `select key from messages where key >= ? order by key`
const LAST_UNTIMED_KEY = `select max(key) as key from messages where key < ?`

/** The first free key at or after the message's time; its position spreads the messages of one millisecond. */
function freeKey(db: Mirror, { created_at: createdAtMs, position }: MessageColumns): number {
  const floor = sortKeyFloor(createdAtMs)
  if (createdAtMs === null) {
    return (prepared<{ key: number | null }>(db, LAST_UNTIMED_KEY).get(BigInt(sortKeyFloor(1e9)))?.key ?? 0) + 1
  }
  let key = floor + Math.min(position ?? 0, 1023)
  for (const taken of prepared<{ key: number }>(db, NEXT_KEYS).iterate(BigInt(key))) {
    if (taken.key !== key) break
    key += 1
  }
  return key
}

const ADD_TERMS = `insert into message_terms (rowid, text, thinking, code, tool, attachment) values (?, ?, ?, ?, ?, ?)`
const DROP_TERMS = `delete from message_terms where rowid = ?`

function addTerms(db: Mirror, key: number, searchable: MessageBody['searchable']): void {
  const { text, thinking, code, tool, attachment } = searchable
  // FTS5 takes a rowid only as an integer, and a JavaScript number is bound as a real.
  prepared(db, ADD_TERMS).run(BigInt(key), ...[text, thinking, code, tool, attachment].map(indexTerms))
}

function moveTerms(
  db: Mirror,
  held: HeldMessage,
  columns: MessageColumns,
  key: number,
  body: MessageBody | null,
): void {
  const isSameContent = held.content_hash.equals(columns.content_hash)
  if (key === held.key && isSameContent && held.is_shadowed === columns.is_shadowed) return
  if (held.is_shadowed === 0) prepared(db, DROP_TERMS).run(BigInt(held.key))
  if (columns.is_shadowed === 1) return
  addTerms(db, key, body?.searchable ?? searchColumns(JSON.parse(readParts(db, held.key)) as Part[]).columns)
}
