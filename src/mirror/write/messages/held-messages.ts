import type { ChatId, MessageId } from '../../../model/ids.ts'
import type { HeldMessage } from './message-columns.ts'
import type { Mirror } from '../../open.ts'
import { prepared } from '../../prepared.ts'

/** The column order matches `heldOf`. */
const SELECT = `
select key, body, source, id, role, alias, position, created_at, created_at_source, sent_at, started_at, timing_at, model,
  input_tokens, output_tokens, is_orphan, is_shadowed, is_simulated, is_embedded, is_live, deleted_at, tool_calls,
  octets, content_hash, user_text, text_keys, marks, is_index_capped, request_id, estimated_input,
  estimated_output
from messages where chat = ?
`
const FIND = `${SELECT} and id = ? and source = ?`

type Column<Name extends keyof HeldMessage> = HeldMessage[Name]
type Row = readonly [
  Column<'key'>,
  Column<'body'>,
  Column<'source'>,
  Column<'id'>,
  Column<'role'>,
  Column<'alias'>,
  Column<'position'>,
  Column<'created_at'>,
  Column<'created_at_source'>,
  Column<'sent_at'>,
  Column<'started_at'>,
  Column<'timing_at'>,
  Column<'model'>,
  Column<'input_tokens'>,
  Column<'output_tokens'>,
  Column<'is_orphan'>,
  Column<'is_shadowed'>,
  Column<'is_simulated'>,
  Column<'is_embedded'>,
  Column<'is_live'>,
  Column<'deleted_at'>,
  Column<'tool_calls'>,
  Column<'octets'>,
  Column<'content_hash'>,
  Column<'user_text'>,
  Column<'text_keys'>,
  Column<'marks'>,
  Column<'is_index_capped'>,
  Column<'request_id'>,
  Column<'estimated_input'>,
  Column<'estimated_output'>,
]

/**
 * All messages of a chat. Rows are read as arrays: better-sqlite3 takes three times as long to create an object of 31
 * columns as an array and this object together. A chat of thousands is listed whenever one of its messages is written.
 */
export const listHeldMessages = (db: Mirror, chatNum: number): HeldMessage[] =>
  Array.from(prepared(db, SELECT).raw().iterate(chatNum) as IterableIterator<Row>, heldOf)

const FIND_CHAT = `select num from chats where id = ?`

const placeOf = ({ position }: HeldMessage): number => position ?? Number.MAX_SAFE_INTEGER

/** A source's live messages of a chat, in order. */
export function listLiveMessages(db: Mirror, chatId: ChatId, source: number): HeldMessage[] {
  const chat = prepared<{ num: number }>(db, FIND_CHAT).get(chatId)
  const held = chat === undefined ? [] : listHeldMessages(db, chat.num)
  return held
    .filter((message) => message.source === source && message.is_live === 1)
    .sort((one, other) => placeOf(one) - placeOf(other) || one.key - other.key)
}

export function findHeldMessage(db: Mirror, chatNum: number, id: MessageId, source: number): HeldMessage | null {
  const row = prepared(db, FIND).raw().get(chatNum, id, source) as Row | undefined
  return row === undefined ? null : heldOf(row)
}

const heldOf = (row: Row): HeldMessage => ({
  key: row[0],
  body: row[1],
  source: row[2],
  id: row[3],
  role: row[4],
  alias: row[5],
  position: row[6],
  created_at: row[7],
  created_at_source: row[8],
  sent_at: row[9],
  started_at: row[10],
  timing_at: row[11],
  model: row[12],
  input_tokens: row[13],
  output_tokens: row[14],
  is_orphan: row[15],
  is_shadowed: row[16],
  is_simulated: row[17],
  is_embedded: row[18],
  is_live: row[19],
  deleted_at: row[20],
  tool_calls: row[21],
  octets: row[22],
  content_hash: row[23],
  user_text: row[24],
  text_keys: row[25],
  marks: row[26],
  is_index_capped: row[27],
  request_id: row[28],
  estimated_input: row[29],
  estimated_output: row[30],
})
