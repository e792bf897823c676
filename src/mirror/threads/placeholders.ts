import type { MessageId } from '../../model/ids.ts'
import { recordedTokens, type Placeholder, type RecordedTokens, type Role } from '../../model/message.ts'
import type { Outline, ThreadEntry } from '../../model/thread.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../sql.ts'
import type { ChatChange } from '../../model/change.ts'
import type { MessageColumns } from '../write/messages.ts'
import { arrangeThread } from './arrange-thread.ts'

// A placeholder is a row that records tokens and has nothing to show. Messages of the thread borrow its tokens.

const IS_ANY_HELD = `select 1 from placeholders where chat = ? and source = ? limit 1`
const DROP = `delete from placeholders where chat = ? and source = ? and id = ?`
const SAVE = `
insert into placeholders (chat, source, id, alias, role, sent_at, started_at, timing_at, input, output)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (chat, source, id) do update set
  alias = excluded.alias, role = excluded.role, sent_at = excluded.sent_at, started_at = excluded.started_at,
  timing_at = excluded.timing_at, input = excluded.input, output = excluded.output
`

/**
 * Updates the placeholders of a chat. A placeholder whose row is gone stays, as a message does. It is deleted if its row
 * now contains a message or no longer records tokens.
 */
export function notePlaceholders(db: Mirror, chat: number, source: number, write: ChatChange): void {
  const placeholders = [...(write.placeholders ?? [])]
  if (placeholders.length + write.messages.length === 0) return
  if (prepared(db, IS_ANY_HELD).get(chat, source) !== undefined) {
    for (const { id } of write.messages) prepared(db, DROP).run(chat, source, id)
    for (const [id, placeholder] of placeholders) if (placeholder === null) prepared(db, DROP).run(chat, source, id)
  }
  for (const [id, placeholder] of placeholders) {
    if (placeholder === null) continue
    const { alias, role, sentAtMs, startedAtMs, timingAtMs, tokens } = placeholder
    const times = [sentAtMs, startedAtMs, timingAtMs]
    prepared(db, SAVE).run(chat, source, id, alias, role, ...times, tokens.input, tokens.output)
  }
}

const LIST = `
select id, alias, role, sent_at as sentAtMs, started_at as startedAtMs, timing_at as timingAtMs, input, output
from placeholders where chat = ? and source = ?
`

interface Row extends Omit<Placeholder, 'tokens'> {
  readonly id: MessageId
  readonly role: Role
  readonly input: number | null
  readonly output: number | null
}

/** A source's rows of a chat that record tokens but contain nothing to show. */
export const listPlaceholders = (db: Mirror, chat: number, source: number): Placeholder[] =>
  prepared<Row>(db, LIST)
    .all(chat, source)
    .flatMap(({ input, output, ...row }) => {
      const tokens = recordedTokens(input, output)
      return tokens === null ? [] : [{ ...row, tokens }]
    })

/** Tokens of placeholders that a message borrows; 0 if none. */
interface Lent {
  readonly input: number
  readonly output: number
}

/** By source and id of the messages. Nearly all chats have none. */
export type LentTokens = ReadonlyMap<string, Lent>

export const noneLent: LentTokens = new Map()

type Borrower = Pick<MessageColumns, 'source' | 'id'>
const keyOf = ({ source, id }: Borrower): string => `${source} ${id}`

const LIST_LENT = `select source, id, input, output from lent_tokens where chat = ?`
const DROP_LENT = `delete from lent_tokens where chat = ?`
const ADD_LENT = `insert into lent_tokens (chat, source, id, input, output) values (?, ?, ?, ?, ?)`

/** The part of the tokens of a chat's messages that comes from its placeholders. */
export function readLent(db: Mirror, chat: number): LentTokens {
  const rows = prepared<Lent & Borrower>(db, LIST_LENT).all(chat)
  return rows.length === 0
    ? noneLent
    : new Map(rows.map(({ input, output, ...row }) => [keyOf(row), { input, output }]))
}

export function saveLent(db: Mirror, chat: number, before: LentTokens, after: LentTokens): void {
  const isSame = before.size === after.size && [...after].every(([key, lent]) => isEqual(before.get(key), lent))
  if (isSame) return
  prepared(db, DROP_LENT).run(chat)
  for (const [key, { input, output }] of after) {
    const space = key.indexOf(' ')
    prepared(db, ADD_LENT).run(chat, Number(key.slice(0, space)), key.slice(space + 1), input, output)
  }
}

const isEqual = (one: Lent | undefined, other: Lent): boolean =>
  one?.input === other.input && one.output === other.output

type Tokens = Pick<MessageColumns, 'input_tokens' | 'output_tokens'>

/** A message without the tokens that it borrows. */
export const ownTokens = <Message extends Borrower & Tokens>(message: Message, lent: LentTokens): Message =>
  shifted(message, lent.get(keyOf(message)), -1)

/** A message with the tokens that it borrows. */
export const withLent = <Message extends Borrower & Tokens>(message: Message, lent: LentTokens): Message =>
  shifted(message, lent.get(keyOf(message)), 1)

function shifted<Message extends Tokens>(message: Message, lent: Lent | undefined, sign: 1 | -1): Message {
  if (lent === undefined) return message
  // Zero means not recorded.
  const shift = (tokens: number | null, by: number): number | null => {
    const sum = (tokens ?? 0) + sign * by
    return sum > 0 ? sum : null
  }
  return {
    ...message,
    input_tokens: shift(message.input_tokens, lent.input),
    output_tokens: shift(message.output_tokens, lent.output),
  }
}

/** A thread whose messages may borrow. */
export interface LendingThread<Message extends Borrower> {
  readonly outline: Outline
  /** The messages that the outline places. */
  readonly entries: readonly ThreadEntry[]
  /** The messages that are shown, by id. */
  readonly shown: ReadonlyMap<MessageId, Message>
  /** Of an archive: it stores the displayed tokens of a message, which already include those of placeholders. */
  readonly isSettled: (message: Message) => boolean
}

/**
 * A placeholder's tokens go to the last message before it in its turn (a turn begins with the user's message). If there is
 * none, they go to the first message after it; at the end of a chat, to the last message.
 */
export function lendTokens<Message extends Borrower>(
  { outline, entries, shown, isSettled }: LendingThread<Message>,
  placeholders: readonly Placeholder[],
): LentTokens {
  if (placeholders.length === 0) return noneLent
  const lending = new Map(placeholders.map((placeholder) => [placeholder.id, placeholder]))
  // The content of placeholders is never compared.
  const empty = placeholders.map((placeholder) => ({ ...placeholder, isLive: true, contentHash: '' }))
  const lent = new Map<string, Lent>()
  const lend = (message: Message, { input, output }: RecordedTokens): void => {
    if (isSettled(message)) return
    const sum = lent.get(keyOf(message)) ?? { input: 0, output: 0 }
    lent.set(keyOf(message), { input: sum.input + (input ?? 0), output: sum.output + (output ?? 0) })
  }
  let inTurn: Message | null = null
  let last: Message | null = null
  let waiting: RecordedTokens[] = []
  let next = 0
  for (const { id, position } of arrangeThread(outline, [...entries, ...empty], null)) {
    // An orphan has no place in the thread.
    if (position === null) continue
    // The message that begins a turn may be missing in the thread.
    for (; next < position; next += 1) if (outline?.[next]?.role === 'user') inTurn = null
    next = position + 1
    const message = shown.get(id)
    const placeholder = lending.get(id)
    if (message !== undefined) {
      for (const tokens of waiting) lend(message, tokens)
      waiting = []
      inTurn = message
      last = message
    } else if (placeholder !== undefined) {
      if (placeholder.role === 'user') inTurn = null
      if (inTurn === null) waiting.push(placeholder.tokens)
      else lend(inTurn, placeholder.tokens)
    }
  }
  if (last !== null) for (const tokens of waiting) lend(last, tokens)
  return lent
}
