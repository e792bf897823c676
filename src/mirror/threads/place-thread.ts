import { arrangeThread } from './arrange-thread.ts'
import type { MessageId } from '../../model/ids.ts'
import type { ChatTime, Outline, Placement, ThreadEntry } from '../../model/thread.ts'
import { tellsFacts, type ChatWrite } from '../write/batch.ts'
import { lendTokens, type LentTokens } from './lent-tokens.ts'
import { mergeThreads, type ListedThread, type MergedThread } from './merge-threads.ts'
import type { MessageColumns, NextMessage } from '../write/messages/message-columns.ts'
import type { Mirror } from '../open.ts'
import { readOutline } from './outlines.ts'
import { isPromptHeld } from '../write/chats/prompt-chats.ts'
import type { SourceRanks } from '../sources/source-ranks.ts'
import type { WriteTools } from '../write/write-tools.ts'
import { splitTextKeys } from '../write/messages/text-key.ts'

export interface ThreadWrite {
  readonly chatNum: number
  /** True if the mirror had nothing of the chat before. */
  readonly isNew: boolean
  readonly write: ChatWrite
  /** The source from which `write` was read. */
  readonly source: number
  /** The source that decides the chat's facts. */
  readonly owner: number
  readonly isPrompts: boolean
  /** True if neither the chat's own row nor a change of its owner affects the order and the times. */
  readonly isOrderKnown: boolean
  readonly chatTime: ChatTime | null
  /** The placeholder tokens that its messages had before. */
  readonly lent: LentTokens
  readonly nowMs: number
  readonly tools: WriteTools
}

/** A message's position and time. */
export type Place = Pick<MessageColumns, 'position' | 'created_at' | 'created_at_source' | 'is_orphan' | 'is_shadowed'>

/**
 * Places all messages of a chat. The best source with messages gives the order. A message of another source is placed if
 * that order names it, or by its time if there is no order. Messages with the same text as the thread are copies. The
 * others are orphans.
 */
export function placeAll(
  db: Mirror,
  thread: ThreadWrite,
  messages: readonly NextMessage[],
): readonly (readonly [NextMessage, Place])[] {
  const best = bestSource(messages, thread)
  const { chosen, repeated } = chooseById(db, messages, thread, best)
  const { ranks } = thread.tools
  // All archives of a chat count as one source, even if different mirrors made them.
  const isOfArchives = best !== null && ranks.isArchive(best)
  const isBest = (source: number): boolean => source === best || (isOfArchives && ranks.isArchive(source))
  const isOneSource = chosen.every(({ columns }) => isBest(columns.source))
  const merged = isOneSource || best === null ? null : mergedList(db, thread, best, messages)
  const outline = merged?.outline ?? (best === null ? null : outlineOf(db, thread, best))
  const named = new Set(isOneSource ? [] : outline?.map(({ id }) => id))
  const isPlacedByOrder = ({ columns }: NextMessage): boolean => isBest(columns.source) || named.has(columns.id)
  const placedByOrder = isOneSource ? chosen : chosen.filter(isPlacedByOrder)
  const foreign = isOneSource
    ? []
    : chosen
        .filter((message) => !isPlacedByOrder(message))
        .toSorted((a, b) => thread.tools.ranks.compare(a.columns.source, b.columns.source))
  // Messages in merged lists were compared one by one.
  const others = foreign.filter(({ columns }) => merged?.listed.has(columns.id) !== true)
  const repeats = foreign.filter(({ columns }) => merged?.repeated.has(columns.id))
  const copies = new Set([...findCopies(placedByOrder, others), ...repeats])
  const joining = outline === null ? foreign.filter((one) => hasTime(one.columns) && !copies.has(one)) : []
  const inThread = new Map([...placedByOrder, ...joining].map((message) => [message.columns.id, message]))
  const outside = foreign.filter((one) => inThread.get(one.columns.id) !== one)
  const entries = Array.from(inThread.values(), (message) => threadEntry(message.columns))
  const arranged = arrangeThread(outline, entries, thread.chatTime)
  return lendTokens(db, thread, { outline, entries, source: best }, [
    ...arranged.flatMap((placement) => {
      const message = inThread.get(placement.id)
      return message === undefined ? [] : [[message, placeColumns(placement)] as const]
    }),
    ...placeForeign(
      outside.filter((message) => !copies.has(message)),
      placedByOrder,
      thread,
    ),
    ...[...outside.filter((message) => copies.has(message)), ...repeated].map(
      (message) => [message, placeCopy(message.columns)] as const,
    ),
  ])
}

/** Orphans of other sources, dated like orphans of the best source. They are indexed unless the thread has the same content. */
function placeForeign(
  foreign: readonly NextMessage[],
  placedByOrder: readonly NextMessage[],
  { chatTime }: ThreadWrite,
): (readonly [NextMessage, Place])[] {
  const contents = new Set(placedByOrder.map(({ columns }) => columns.content_hash))
  return foreign.flatMap((message) =>
    arrangeThread([], [threadEntry(message.columns)], chatTime).map((placement) => {
      const isShadowed = contents.has(message.columns.content_hash)
      return [message, placeColumns({ ...placement, isShadowed })] as const
    }),
  )
}

/**
 * The order to use. An outline that was just read is taken from `write`. The outline of an archive orders the archive's
 * messages, and those of a source that never had the chat's own row.
 */
function outlineOf(
  db: Mirror,
  { chatNum, source, owner, write, tools: { ranks } }: ThreadWrite,
  best: number,
): Outline {
  const by = ranks.isArchive(best) && ranks.isArchive(owner) ? owner : best
  const outlineFrom = (of: number): Outline | undefined => {
    if (of === source && tellsFacts(write.ownRow)) return write.ownRow.outline
    return (of === source ? write.part?.outline : null) ?? readOutline(db, chatNum, of)
  }
  return outlineFrom(by) ?? (ranks.isArchive(owner) ? (outlineFrom(owner) ?? null) : null)
}

/** The list of the best source, completed by the lists of others with the same rank; null if there are none. */
function mergedList(
  db: Mirror,
  thread: ThreadWrite,
  best: number,
  messages: readonly NextMessage[],
): MergedThread | null {
  const { ranks } = thread.tools
  const listOf = (source: number): ListedThread[] => {
    const own = messages.filter(({ columns }) => columns.source === source && columns.is_embedded === 1)
    const outline = own.length === 0 ? null : outlineOf(db, thread, source)
    const contents = own.map(({ columns }) => [columns.id, `${columns.role} ${columns.content_hash}`] as const)
    const textKeys = own.map(
      ({ columns }) => [columns.id, keysOf(columns).map((key) => `${columns.role} ${key}`)] as const,
    )
    return outline === null ? [] : [{ outline, contents: new Map(contents), textKeys: new Map(textKeys) }]
  }
  const others = [...new Set(messages.map(({ columns }) => columns.source))]
    .filter((of) => of !== best && ranks.of(of) === ranks.of(best) && !ranks.isArchive(of))
    .toSorted((a, b) => ranks.compare(a, b))
    .flatMap(listOf)
  const [first] = others.length === 0 ? [] : listOf(best)
  return first === undefined ? null : mergeThreads(first, others)
}

interface ChosenRows {
  readonly chosen: readonly NextMessage[]
  /** Other sources' rows of the same messages, and prompts that another chat contains. */
  readonly repeated: readonly NextMessage[]
}

/** Chooses one of several rows of a message: live rows first, then the row of the best source. */
function chooseById(
  db: Mirror,
  messages: readonly NextMessage[],
  { tools, isPrompts }: ThreadWrite,
  best: number | null,
): ChosenRows {
  const chosen = new Map<MessageId, NextMessage>()
  const repeated: NextMessage[] = []
  const isBetter = (one: MessageColumns, other: MessageColumns): boolean => {
    if (one.is_live !== other.is_live) return one.is_live > other.is_live
    if (other.source === best) return false
    return one.source === best || tools.ranks.best([one.source, other.source]) === one.source
  }
  for (const message of messages) {
    const rival = chosen.get(message.columns.id)
    if (isPrompts && isPromptHeld(db, message.columns.user_text)) repeated.push(message)
    else if (rival === undefined) chosen.set(message.columns.id, message)
    else if (isBetter(message.columns, rival.columns)) {
      repeated.push(rival)
      chosen.set(message.columns.id, message)
    } else repeated.push(message)
  }
  return { chosen: [...chosen.values()], repeated }
}

/**
 * A source that lost all its messages is replaced by one with live messages, unless that one has a worse rank and not more
 * messages. For example, a transcript outlives its chat but has neither times nor tool outputs.
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
 * Of several sources with the best rank, the one with the most messages of the chat. Two profiles, or a project under its
 * former name, have the same rank.
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
 * The messages that only repeat texts of the thread, or of a better source. Sources use different ids and split messages
 * differently, so texts are compared: a message is a copy if the thread contains all its texts. A message of only tool
 * calls without outputs is a copy if the thread has tool calls.
 */
function findCopies(thread: readonly NextMessage[], others: readonly NextMessage[]): ReadonlySet<NextMessage> {
  const copies = new Set<NextMessage>()
  if (others.length === 0) return copies
  const known = new Set(thread.flatMap(({ columns }) => keysOf(columns)))
  const hasTools = thread.some(({ columns }) => columns.tool_calls > 0)
  // A source is compared with those before it but not with itself: the same text can be sent twice.
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
