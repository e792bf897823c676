import { arrangeThread } from './arrange-thread.ts'
import type { RecordedTokens, Placeholder } from '../../model/message.ts'
import type { Outline, ThreadEntry } from '../../model/thread.ts'
import type { MessageColumns, NextMessage } from '../write/messages/message-columns.ts'
import type { Mirror } from '../open.ts'
import { listPlaceholders } from './placeholders.ts'
import { prepared } from '../prepared.ts'
import type { WriteTools } from '../write/write-tools.ts'

/** Placeholder tokens that were added to messages, by `lentKey`. */
export type LentTokens = ReadonlyMap<string, Lent>

/** Token counts; 0 if not recorded. */
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

/** The part of the tokens of a chat's messages that comes from its placeholders. */
export function readLent(db: Mirror, chatNum: number): LentTokens {
  const rows = prepared<Lent>(db, LIST).all(chatNum)
  return rows.length === 0 ? noneLent : new Map(rows.map((row) => [lentKey(row), row]))
}

type TokenColumns = Pick<MessageColumns, 'input_tokens' | 'output_tokens'>

/** A message's own tokens, without those of placeholders. */
export const ownTokens = (columns: Receiver & TokenColumns, lent: LentTokens): TokenColumns =>
  withShift(columns, lent.get(lentKey(columns)) ?? nothing, nothing)

/** A message's own tokens plus those of placeholders. */
export const withLent = (columns: Receiver & TokenColumns, lent: LentTokens): TokenColumns =>
  withShift(columns, nothing, lent.get(lentKey(columns)) ?? nothing)

const withShift = ({ input_tokens, output_tokens }: TokenColumns, less: Amount, more: Amount): TokenColumns => ({
  input_tokens: shift(input_tokens, less.input, more.input),
  output_tokens: shift(output_tokens, less.output, more.output),
})

/** Zero means not recorded. */
function shift(tokens: number | null, less: number, more: number): number | null {
  const sum = (tokens ?? 0) - less + more
  return sum > 0 ? sum : null
}

/** The order of a chat's messages. */
interface Order {
  readonly outline: Outline
  /** The source that gives it; null if the chat has no message. */
  readonly source: number | null
  /** The messages that it places. */
  readonly entries: readonly ThreadEntry[]
}

type PlacedMessage<Place> = readonly [NextMessage, Place]
type OrphanState = Pick<MessageColumns, 'is_orphan'>

interface LendingThread {
  readonly chatNum: number
  /** The placeholder tokens that its messages have now. */
  readonly lent: LentTokens
  readonly tools: Pick<WriteTools, 'ranks'>
}

/**
 * Distributes the tokens of a chat's placeholders over the messages of its thread, and removes the former distribution.
 * Nearly all chats have no placeholders.
 */
export function lendTokens<Place extends OrphanState>(
  db: Mirror,
  thread: LendingThread,
  order: Order,
  placed: readonly PlacedMessage<Place>[],
): readonly PlacedMessage<Place>[] {
  const { chatNum, lent: before } = thread
  const after = distribute(thread, order, placed, placeholdersToCount(db, chatNum, order, placed))
  if (before.size === 0 && after.size === 0) return placed
  if (!isSame(before, after)) save(db, chatNum, after)
  return placed.map(([message, place]) => [updateTokens(message, before, after), place])
}

/** The chat's placeholders, without rows that are also held as messages: they would count twice. */
function placeholdersToCount(
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
 * A placeholder's tokens go to the last message before it in its turn (a turn begins with the user's message). If there is
 * none, they go to the first message after it; at the end of a chat, to the last message.
 */
function distribute(
  { tools }: LendingThread,
  { outline, entries }: Order,
  placed: readonly PlacedMessage<OrphanState>[],
  placeholders: readonly Placeholder[],
): LentTokens {
  if (placeholders.length === 0) return noneLent
  const shown = new Map(
    placed.flatMap(([message, { is_orphan }]) => (is_orphan === 0 ? [[message.columns.id, message]] : [])),
  )
  const lending = new Map(placeholders.map((placeholder) => [placeholder.id, placeholder]))
  // The content of placeholders is never compared.
  const empty = placeholders.map((placeholder) => ({ ...placeholder, isLive: true, contentHash: '' }))
  const lent = new Map<string, Lent>()
  const lend = ({ columns }: NextMessage, { input, output }: RecordedTokens): void => {
    // An archive stores the displayed tokens of a message, which already include those of placeholders.
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

function updateTokens(message: NextMessage, before: LentTokens, after: LentTokens): NextMessage {
  const key = lentKey(message.columns)
  const [less, more] = [before.get(key) ?? nothing, after.get(key) ?? nothing]
  if (isSameAmount(less, more)) return message
  return { ...message, columns: { ...message.columns, ...withShift(message.columns, less, more) } }
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
