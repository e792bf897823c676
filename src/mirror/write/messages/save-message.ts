import type { Mirror } from '../../open.ts'
import type { PendingTerms } from '../../fulltext/pending-terms.ts'
import { RowInsert } from '../../insert-rows.ts'
import { prepared } from '../../prepared.ts'
import type { WriteTools } from '../write-tools.ts'
import { addCalls, replaceCalls, rowsOf, type CallFact } from './message-calls.ts'
import type { HeldMessage, MessageColumns, NextMessage } from './message-columns.ts'

const COLUMNS = [
  'source',
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
  'estimated_input',
  'estimated_output',
  'request_id',
  'is_orphan',
  'is_shadowed',
  'is_simulated',
  'is_embedded',
  'is_live',
  'deleted_at',
  'tool_calls',
  'octets',
  'content_hash',
  'user_text',
  'text_keys',
  'marks',
  'is_index_capped',
] as const satisfies readonly (keyof MessageColumns)[]

const addRows = new RowInsert(
  `messages (key, chat, body, ${COLUMNS.join(', ')})`,
  `(?, ?, ?${', ?'.repeat(COLUMNS.length)})`,
)
const SAVE_MESSAGE = `update messages set key = ?, ${COLUMNS.map((column) => `${column} = ?`).join(', ')} where key = ?`

/** The rows of a chat's new messages, until they are written together. */
export class NewMessages {
  readonly #rows: unknown[][] = []
  readonly #calls: unknown[][] = []

  add(
    [key, chatNum, body]: readonly [key: number, chatNum: number, body: number | bigint],
    values: readonly unknown[],
    calls: readonly CallFact[],
  ): void {
    this.#rows.push([key, chatNum, body, ...values])
    this.#calls.push(...rowsOf(body, calls))
  }

  write(db: Mirror): void {
    addRows.run(db, this.#rows)
    addCalls.run(db, this.#calls)
  }
}

/**
 * Writes one message with its body and its full-text row. The full-text row moves if the message's time changed, and is
 * removed if the thread already has the same content.
 * @param added gets the row of a new message
 * @returns whether anything changed
 */
export function saveMessage(
  db: Mirror,
  { terms, keys, names, isEstimating }: WriteTools,
  chatNum: number,
  { held, columns: wanted, partsJson, calls }: NextMessage,
  added: NewMessages,
): boolean {
  const columns =
    isEstimating || wanted === held ? wanted : { ...wanted, estimated_input: null, estimated_output: null }
  const values = COLUMNS.map((column) => columns[column])
  if (held === null) {
    if (partsJson === null) throw new Error('a new message needs its body')
    const key = keys.next(columns.created_at, columns.position)
    const { lastInsertRowid } = prepared(db, ADD_BODY).run(partsJson)
    added.add([key, chatNum, lastInsertRowid], values, calls ?? [])
    if (columns.is_shadowed === 0) terms.add(key, partsJson)
    names.write(columns.marks, columns.model)
    return true
  }
  const hasNewBody = partsJson !== null && readParts(db, held.body) !== partsJson
  if (!hasNewBody && isSame(held, columns)) return false
  const key = held.created_at === columns.created_at ? held.key : keys.next(columns.created_at, columns.position)
  moveTerms(terms, held, columns, key, () => partsJson ?? readParts(db, held.body))
  prepared(db, SAVE_MESSAGE).run(key, ...values, held.key)
  if (hasNewBody) {
    prepared(db, SAVE_BODY).run(partsJson, held.body)
    replaceCalls(db, held.body, calls ?? [])
  }
  names.write(columns.marks, columns.model)
  return true
}

const ADD_BODY = `insert into bodies (parts) values (?)`
const SAVE_BODY = `update bodies set parts = ? where num = ?`
const READ_PARTS = `select parts from bodies where num = ?`

/** The stored parts of a message, as JSON. */
export function readParts(db: Mirror, body: number): string {
  const row = prepared<{ parts: string }>(db, READ_PARTS).get(body)
  if (row === undefined) throw new Error('a message has no body')
  return row.parts
}

function isSame(held: HeldMessage, columns: MessageColumns): boolean {
  return COLUMNS.every((column) => held[column] === columns[column])
}

function moveTerms(
  terms: PendingTerms,
  held: HeldMessage,
  columns: MessageColumns,
  key: number,
  parts: () => string,
): void {
  const isSameContent = held.content_hash === columns.content_hash && held.marks === columns.marks
  if (key === held.key && isSameContent && held.is_shadowed === columns.is_shadowed) return
  if (held.is_shadowed === 0) terms.drop(held.key)
  if (columns.is_shadowed === 0) terms.add(key, parts())
}
