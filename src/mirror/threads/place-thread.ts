import { arrangeThread } from './arrange-thread.ts'
import type { MessageId } from '../../model/ids.ts'
import type { ChatTime, Outline, Placement, ThreadEntry } from '../../model/thread.ts'
import { tellsFacts, type ChatWrite } from '../write/batch.ts'
import { lendTokens, type LentTokens } from './lent-tokens.ts'
import type { MessageColumns, NextMessage } from '../write/messages/message-columns.ts'
import type { Mirror } from '../open.ts'
import { readOutline } from './outlines.ts'
import { isPromptHeld } from '../write/chats/prompt-chats.ts'
import type { SourceRanks } from '../sources/source-ranks.ts'
import type { WriteTools } from '../write/write-tools.ts'
import { splitTextKeys } from '../write/messages/text-key.ts'

export interface ThreadWrite {
  readonly chatNum: number
  /** True where the mirror held nothing of the chat. */
  readonly isNew: boolean
  readonly write: ChatWrite
  /** The source whose word `write` is. */
  readonly source: number
  /** The one whose word of the chat counts. */
  readonly owner: number
  readonly isPrompts: boolean
  /** True where neither the chat's own row nor whose word counts says anything new of order and times. */
  readonly isOrderKnown: boolean
  readonly chatTime: ChatTime | null
  /** What its messages held of its placeholders' tokens before. */
  readonly lent: LentTokens
  readonly nowMs: number
  readonly tools: WriteTools
}

/** Where a message stands, and when. */
export type Place = Pick<MessageColumns, 'position' | 'created_at' | 'created_at_source' | 'is_orphan' | 'is_shadowed'>

/**
 * The best source that holds messages gives the order. A message of another source takes its place where that order
 * names it, or by its time where there is no order; what the thread holds already is a copy, and the rest are orphans.
 */
export function placeAll(
  db: Mirror,
  thread: ThreadWrite,
  messages: readonly NextMessage[],
): readonly (readonly [NextMessage, Place])[] {
  const best = bestSource(messages, thread)
  const { standing, repeating } = chooseById(db, messages, thread, best)
  const outline = best === null ? null : outlineOf(db, thread, best)
  const { ranks } = thread.tools
  // Archives of one chat, whichever mirror made them, are one source of it.
  const isOfArchives = best !== null && ranks.isArchive(best)
  const isBest = (source: number): boolean => source === best || (isOfArchives && ranks.isArchive(source))
  const isOneSource = standing.every(({ columns }) => isBest(columns.source))
  const named = new Set(isOneSource ? [] : outline?.map(({ id }) => id))
  const isAtHome = ({ columns }: NextMessage): boolean => isBest(columns.source) || named.has(columns.id)
  const atHome = isOneSource ? standing : standing.filter(isAtHome)
  const strangers = isOneSource
    ? []
    : standing
        .filter((message) => !isAtHome(message))
        .toSorted((a, b) => thread.tools.ranks.compare(a.columns.source, b.columns.source))
  const copies = findCopies(atHome, strangers)
  const joining = outline === null ? strangers.filter((one) => hasTime(one.columns) && !copies.has(one)) : []
  const inside = new Map([...atHome, ...joining].map((message) => [message.columns.id, message]))
  const apart = strangers.filter((one) => inside.get(one.columns.id) !== one)
  const entries = Array.from(inside.values(), (message) => threadEntry(message.columns))
  const arranged = arrangeThread(outline, entries, thread.chatTime)
  return lendTokens(db, thread, { outline, entries, source: best }, [
    ...arranged.flatMap((placement) => {
      const message = inside.get(placement.id)
      return message === undefined ? [] : [[message, placeColumns(placement)] as const]
    }),
    ...placeStrangers(
      apart.filter((message) => !copies.has(message)),
      atHome,
      thread,
    ),
    ...[...apart.filter((message) => copies.has(message)), ...repeating].map(
      (message) => [message, placeCopy(message.columns)] as const,
    ),
  ])
}

/** Orphans of other sources, at the times that one of the best source would have; found where the thread says other things. */
function placeStrangers(
  strangers: readonly NextMessage[],
  atHome: readonly NextMessage[],
  { chatTime }: ThreadWrite,
): (readonly [NextMessage, Place])[] {
  const said = new Set(atHome.map(({ columns }) => columns.content_hash))
  return strangers.flatMap((message) =>
    arrangeThread([], [threadEntry(message.columns)], chatTime).map((placement) => {
      const isShadowed = said.has(message.columns.content_hash)
      return [message, placeColumns({ ...placement, isShadowed })] as const
    }),
  )
}

/**
 * What was just read needs not be read again. What an archive remembers is the order of its own messages, and of those of
 * a source that never had a row of the chat's own.
 */
function outlineOf(
  db: Mirror,
  { chatNum, source, owner, write, tools: { ranks } }: ThreadWrite,
  best: number,
): Outline {
  const by = ranks.isArchive(best) && ranks.isArchive(owner) ? owner : best
  const told = (of: number): Outline | undefined => {
    if (of === source && tellsFacts(write.ownRow)) return write.ownRow.outline
    return (of === source ? write.part?.outline : null) ?? readOutline(db, chatNum, of)
  }
  return told(by) ?? (ranks.isArchive(owner) ? (told(owner) ?? null) : null)
}

interface Chosen {
  readonly standing: readonly NextMessage[]
  /** Other sources' rows of the same messages, and prompts whose words a chat holds. */
  readonly repeating: readonly NextMessage[]
}

/** Of several rows of one message that stands which is still held, and of those that of the best source. */
function chooseById(
  db: Mirror,
  messages: readonly NextMessage[],
  { tools, isPrompts }: ThreadWrite,
  best: number | null,
): Chosen {
  const standing = new Map<MessageId, NextMessage>()
  const repeating: NextMessage[] = []
  const isBetter = (one: MessageColumns, other: MessageColumns): boolean => {
    if (one.is_live !== other.is_live) return one.is_live > other.is_live
    if (other.source === best) return false
    return one.source === best || tools.ranks.best([one.source, other.source]) === one.source
  }
  for (const message of messages) {
    const rival = standing.get(message.columns.id)
    if (isPrompts && isPromptHeld(db, message.columns.user_text)) repeating.push(message)
    else if (rival === undefined) standing.set(message.columns.id, message)
    else if (isBetter(message.columns, rival.columns)) {
      repeating.push(rival)
      standing.set(message.columns.id, message)
    } else repeating.push(message)
  }
  return { standing: [...standing.values()], repeating }
}

/**
 * A source that has lost all it held gives way to one that has not, unless that is a poorer one and holds less: a
 * transcript outlives its chat, and knows neither times nor what a tool gave back.
 */
function bestSource(messages: readonly NextMessage[], { tools: { ranks } }: ThreadWrite): number | null {
  const live = messages.filter(isLive)
  if (live.length === 0 || live.length === messages.length) return fullestOfBest(countBySource(messages), ranks)
  const liveIds = new Set(live.map(({ columns }) => columns.id))
  const known = countBySource(messages.filter((one) => isLive(one) || !liveIds.has(one.columns.id)))
  const held = countBySource(live)
  const [former, next] = [fullestOfBest(known, ranks), fullestOfBest(held, ranks)]
  if (former === null || next === null || ranks.of(former) >= ranks.of(next)) return next
  return (known.get(former) ?? 0) >= (held.get(next) ?? 0) ? former : next
}

const isLive = ({ columns }: NextMessage): boolean => columns.is_live === 1

function countBySource(messages: readonly NextMessage[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>()
  for (const { columns } of messages) counts.set(columns.source, (counts.get(columns.source) ?? 0) + 1)
  return counts
}

/**
 * Of several of one rank, such as two profiles or a project under its former name, the one that holds most of the chat.
 */
function fullestOfBest(counts: ReadonlyMap<number, number>, ranks: SourceRanks): number | null {
  const first = ranks.best([...counts.keys()])
  if (first === null || counts.size === 1 || ranks.isArchive(first)) return first
  const rivals = [...counts].filter(([source]) => ranks.of(source) === ranks.of(first))
  const most = Math.max(...rivals.map(([, count]) => count))
  return ranks.best(rivals.flatMap(([source, count]) => (count === most ? source : [])))
}

const hasTime = ({ sent_at, started_at, timing_at }: MessageColumns): boolean =>
  (sent_at ?? started_at ?? timing_at) !== null

const placeCopy = ({ sent_at }: MessageColumns): Place => ({
  position: null,
  created_at: sent_at,
  created_at_source: sent_at === null ? null : 'message',
  is_orphan: 2,
  is_shadowed: 1,
})

export function threadEntry(columns: MessageColumns): ThreadEntry {
  return {
    id: columns.id,
    alias: columns.alias,
    role: columns.role,
    sentAtMs: columns.sent_at,
    startedAtMs: columns.started_at,
    timingAtMs: columns.timing_at,
    isLive: columns.is_live === 1,
    contentHash: columns.content_hash,
  }
}

export function placeColumns(placement: Placement): Place {
  return {
    position: placement.position,
    created_at: placement.createdAtMs,
    created_at_source: placement.createdAtSource,
    is_orphan: placement.isOrphan ? 1 : 0,
    is_shadowed: placement.isShadowed ? 1 : 0,
  }
}

/**
 * Which of these messages say only what the thread, or one before them, says already. Sources name messages differently
 * and cut them differently, so that texts are compared: all texts of a copy stand in the thread. One of nothing but tool
 * calls, told without their output, is a copy where the thread has tool calls of its own.
 */
export function findCopies(thread: readonly NextMessage[], others: readonly NextMessage[]): ReadonlySet<NextMessage> {
  const copies = new Set<NextMessage>()
  if (others.length === 0) return copies
  const known = new Set(thread.flatMap(({ columns }) => keysOf(columns)))
  const hasTools = thread.some(({ columns }) => columns.tool_calls > 0)
  // What one source tells is compared with what those before it told, and not with itself: a word can be said twice.
  for (const source of new Set(others.map(({ columns }) => columns.source))) {
    const fresh: string[] = []
    for (const message of others.filter(({ columns }) => columns.source === source)) {
      const keys = keysOf(message.columns)
      const isCopy =
        keys.length === 0 ? hasTools && message.columns.text_keys === '' : keys.every((key) => known.has(key))
      if (isCopy) copies.add(message)
      else fresh.push(...keys)
    }
    for (const key of fresh) known.add(key)
  }
  return copies
}

const keysOf = ({ text_keys }: MessageColumns): string[] => splitTextKeys(text_keys)
