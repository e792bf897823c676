import { arrangeThread } from './arrange-thread.ts'
import type { RecordedTokens, Placeholder } from '../../model/message.ts'
import type { Outline, ThreadEntry } from '../../model/thread.ts'
import type { MessageColumns, NextMessage } from '../write/messages/message-columns.ts'
import type { Mirror } from '../open.ts'
import { listPlaceholders } from './placeholders.ts'
import { prepared } from '../prepared.ts'
import type { WriteTools } from '../write/write-tools.ts'

/** Tokens of messages that are not their own, by `lentKey`. */
export type LentTokens = ReadonlyMap<string, Lent>

/** A number that is not recorded is 0. */
interface Amount {
  readonly input: number
  readonly output: number
}

type Receiver = Pick<MessageColumns, 'source' | 'id'>
type Lent = Receiver & Amount

const nothing: Amount = { input: 0, output: 0 }
export const noneLent: LentTokens = new Map()

const lentKey = ({ source, id }: Receiver): string => `${source} ${id}`

const LIST = `select source, id, input, output from lent_tokens where chat = ?`

/** How much of the tokens of a chat's messages comes from its placeholders. */
export function readLent(db: Mirror, chatNum: number): LentTokens {
  const rows = prepared<Lent>(db, LIST).all(chatNum)
  return rows.length === 0 ? noneLent : new Map(rows.map((row) => [lentKey(row), row]))
}

type TokenColumns = Pick<MessageColumns, 'input_tokens' | 'output_tokens'>

/** A message's tokens without those that were lent to it. */
export const ownTokens = (columns: Receiver & TokenColumns, lent: LentTokens): TokenColumns =>
  shifted(columns, lent.get(lentKey(columns)) ?? nothing, nothing)

/** A message's own tokens with those that are lent to it. */
export const withLent = (columns: Receiver & TokenColumns, lent: LentTokens): TokenColumns =>
  shifted(columns, nothing, lent.get(lentKey(columns)) ?? nothing)

const shifted = ({ input_tokens, output_tokens }: TokenColumns, less: Amount, more: Amount): TokenColumns => ({
  input_tokens: shift(input_tokens, less.input, more.input),
  output_tokens: shift(output_tokens, less.output, more.output),
})

/** Zero is not recorded. */
function shift(tokens: number | null, less: number, more: number): number | null {
  const sum = (tokens ?? 0) - less + more
  return sum > 0 ? sum : null
}

/** The order in which a chat is placed. */
interface Order {
  readonly outline: Outline
  /** The source that gives it; null where the chat has no message. */
  readonly source: number | null
  /** The messages among which it places. */
  readonly entries: readonly ThreadEntry[]
}

type PlacedMessage<Place> = readonly [NextMessage, Place]
type Orphanage = Pick<MessageColumns, 'is_orphan'>

interface LendingThread {
  readonly chatNum: number
  /** What was lent before. */
  readonly lent: LentTokens
  readonly tools: Pick<WriteTools, 'ranks'>
}

/**
 * Shares out the tokens of a chat's placeholders among the messages of its thread, in place of what was shared out
 * before. Of nearly all chats there is nothing to share.
 */
export function lendTokens<Place extends Orphanage>(
  db: Mirror,
  thread: LendingThread,
  order: Order,
  placed: readonly PlacedMessage<Place>[],
): readonly PlacedMessage<Place>[] {
  const { chatNum, lent: before } = thread
  const after = shareOut(thread, order, placed, listOf(db, chatNum, order, placed))
  if (before.size === 0 && after.size === 0) return placed
  if (!isSame(before, after)) save(db, chatNum, after)
  return placed.map(([message, place]) => [relent(message, before, after), place])
}

/** A row that was a message once, and is held as one, is not counted twice. */
function listOf(
  db: Mirror,
  chatNum: number,
  { source }: Order,
  placed: readonly PlacedMessage<unknown>[],
): Placeholder[] {
  const all = source === null ? [] : listPlaceholders(db, chatNum, source)
  if (all.length === 0) return all
  const held = new Set(placed.map(([{ columns }]) => columns.id))
  return all.filter(({ id }) => !held.has(id))
}

/**
 * A placeholder's tokens go to the last message of the thread before it in its turn, which begins with the user's
 * message; else to the first one after it; else, at the end of a chat, to the last one there is.
 */
function shareOut(
  { tools }: LendingThread,
  { outline, entries }: Order,
  placed: readonly PlacedMessage<Orphanage>[],
  placeholders: readonly Placeholder[],
): LentTokens {
  if (placeholders.length === 0) return noneLent
  const shown = new Map(
    placed.flatMap(([message, { is_orphan }]) => (is_orphan === 0 ? [[message.columns.id, message]] : [])),
  )
  const lending = new Map(placeholders.map((placeholder) => [placeholder.id, placeholder]))
  // What a placeholder holds is compared with nothing.
  const empty = placeholders.map((placeholder) => ({ ...placeholder, isLive: true, contentHash: '' }))
  const lent = new Map<string, Lent>()
  const lend = ({ columns }: NextMessage, { input, output }: RecordedTokens): void => {
    // An archive wrote down what the message showed, with all that was lent to it.
    if (tools.ranks.isArchive(columns.source)) return
    const { source, id } = columns
    const sum = lent.get(lentKey(columns)) ?? nothing
    lent.set(lentKey(columns), { source, id, input: sum.input + (input ?? 0), output: sum.output + (output ?? 0) })
  }
  let inTurn: NextMessage | null = null
  let last: NextMessage | null = null
  let waiting: RecordedTokens[] = []
  let next = 0
  for (const { id, position } of arrangeThread(outline, [...entries, ...empty], null)) {
    // An orphan: the chat does not name it.
    if (position === null) continue
    // A turn may begin with a message that is not shown.
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

function relent(message: NextMessage, before: LentTokens, after: LentTokens): NextMessage {
  const key = lentKey(message.columns)
  const [less, more] = [before.get(key) ?? nothing, after.get(key) ?? nothing]
  if (isSameAmount(less, more)) return message
  return { ...message, columns: { ...message.columns, ...shifted(message.columns, less, more) } }
}

const isSameAmount = (a: Amount, b: Amount): boolean => a.input === b.input && a.output === b.output

const isSame = (before: LentTokens, after: LentTokens): boolean =>
  before.size === after.size && [...after].every(([key, amount]) => isSameAmount(before.get(key) ?? nothing, amount))

const DROP = `delete from lent_tokens where chat = ?`
const ADD = `insert into lent_tokens (chat, source, id, input, output) values (?, ?, ?, ?, ?)`

function save(db: Mirror, chatNum: number, lent: LentTokens): void {
  prepared(db, DROP).run(chatNum)
  for (const { source, id, input, output } of lent.values()) {
    prepared(db, ADD).run(chatNum, source, id, input, output)
  }
}
