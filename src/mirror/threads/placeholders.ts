import { recordedTokens, type Placeholder, type RecordedTokens } from '../../model/message.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../sql.ts'
import type { ChatChange } from '../../model/change.ts'
import type { NextMessage, SaidMessage } from '../write/messages.ts'
import { arrange, type Assembled, type Placeable } from './assemble.ts'

// A placeholder is a row that records tokens and has nothing to show. Messages of the thread borrow its tokens. Few chats
// have any.

const DROP = `delete from placeholders where chat = ? and source = ? and id = ?`
const SAVE = `
insert or replace into placeholders (chat, source, id, alias, role, sent_at, started_at, timing_at, input, output)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
`

/**
 * Updates the placeholders of a chat. A placeholder whose row is gone stays, as a message does. It is deleted if its row
 * now contains a message or no longer records tokens.
 */
export function notePlaceholders(db: Mirror, chat: number, source: number, write: ChatChange): void {
  const read = new Map<string, Placeholder | null>(write.messages.map(({ id }) => [id, null]))
  for (const [id, placeholder] of [...read, ...(write.placeholders ?? [])]) {
    if (placeholder === null) prepared(db, DROP).run(chat, source, id)
    else {
      const { alias, role, sentAtMs, startedAtMs, timingAtMs, tokens } = placeholder
      const times = [sentAtMs, startedAtMs, timingAtMs]
      prepared(db, SAVE).run(chat, source, id, alias, role, ...times, tokens.input, tokens.output)
    }
  }
}

/** They have no content that could be compared. */
const LIST = `
select id, alias, role, sent_at, started_at, timing_at, input, output, 1 as is_live, '' as content_hash
from placeholders where chat = ? and source = ?
`

/** Tokens of placeholders that a message borrows; 0 if none. */
interface Lent extends Pick<SaidMessage, 'source' | 'id'> {
  readonly input: number
  readonly output: number
}

/** By source and id of the messages. */
export type LentTokens = ReadonlyMap<string, Lent>

const keyOf = ({ source, id }: Pick<SaidMessage, 'source' | 'id'>): string => `${source} ${id}`

const LIST_LENT = `select source, id, input, output from placeholder_tokens where chat = ?`
const DROP_LENT = `delete from placeholder_tokens where chat = ?`
const ADD_LENT = `insert into placeholder_tokens (chat, source, id, input, output) values (?, ?, ?, ?, ?)`

/** The part of the tokens of a chat's messages that comes from its placeholders. */
export const readLent = (db: Mirror, chat: number): LentTokens =>
  new Map(
    prepared<Lent>(db, LIST_LENT)
      .all(chat)
      .map((lent) => [keyOf(lent), lent]),
  )

/** The message with the tokens that it borrows, or without them if `sign` is -1. */
export function withLent(message: SaidMessage, lent: LentTokens, sign: 1 | -1 = 1): SaidMessage {
  const part = lent.get(keyOf(message))
  if (part === undefined) return message
  const { input_tokens: input, output_tokens: output } = message
  const tokens = recordedTokens((input ?? 0) + sign * part.input, (output ?? 0) + sign * part.output)
  return { ...message, input_tokens: tokens?.input ?? null, output_tokens: tokens?.output ?? null }
}

/**
 * Distributes the tokens of a chat's placeholders again. Those of a placeholder go to the last message before it in its
 * turn (a turn begins with the user's message). If there is none, they go to the first message after it; at the end of a
 * chat, to the last message.
 * @param isSettled of an archive: it has the displayed tokens of a message, which already include those of placeholders
 */
export function lendTokens(
  db: Mirror,
  chat: number,
  { best, outline, thread, placed }: Assembled,
  isSettled: (source: number) => boolean,
): LentTokens {
  // A row that is also held as a message would count twice.
  const held = new Set(placed.map(([{ columns }]) => columns.id))
  const placeholders = prepared<Placeable['columns'] & RecordedTokens>(db, LIST)
    .all(chat, best)
    .filter(({ id }) => !held.has(id))
    .map((columns) => ({ columns, tokens: columns }))
  const shown = new Set(placed.flatMap(([message, place]) => (place.is_orphan === 0 ? [message] : [])))
  const lent = new Map<string, Lent>()
  const lend = ({ columns: { source, id } }: NextMessage, { input, output }: RecordedTokens): void => {
    if (isSettled(source)) return
    const sum = lent.get(keyOf({ source, id })) ?? { source, id, input: 0, output: 0 }
    lent.set(keyOf(sum), { ...sum, input: sum.input + (input ?? 0), output: sum.output + (output ?? 0) })
  }
  let inTurn: NextMessage | null = null
  let last: NextMessage | null = null
  let waiting: RecordedTokens[] = []
  let next = 0
  for (const [item, { position }] of arrange<NextMessage | (typeof placeholders)[number]>(
    outline,
    [...thread, ...placeholders],
    null,
  )) {
    // An orphan has no place in the thread.
    if (position === null) continue
    // The message that begins a turn may be missing in the thread.
    for (; next < position; next += 1) if (outline?.[next]?.role === 'user') inTurn = null
    next = position + 1
    if ('tokens' in item) {
      if (item.columns.role === 'user') inTurn = null
      if (inTurn === null) waiting.push(item.tokens)
      else lend(inTurn, item.tokens)
    } else if (shown.has(item)) {
      for (const tokens of waiting) lend(item, tokens)
      waiting = []
      inTurn = item
      last = item
    }
  }
  if (last !== null) for (const tokens of waiting) lend(last, tokens)
  prepared(db, DROP_LENT).run(chat)
  for (const { source, id, input, output } of lent.values()) prepared(db, ADD_LENT).run(chat, source, id, input, output)
  return lent
}
