import type { MessageId } from '../../model/ids.ts'
import type { Placeholder } from '../../model/message.ts'
import type { ChatTime, Outline, Placement, ThreadEntry } from '../../model/thread.ts'
import type { SourceRanks } from '../sources/sources.ts'
import type { MessageColumns, NextMessage, Place } from '../write/messages.ts'
import { splitTextKeys } from '../write/pack-message.ts'
import { arrangeThread } from './arrange-thread.ts'
import { mergeThreads, type ListedThread, type MergedThread } from './merge-threads.ts'
import { lendTokens, type LentTokens } from './placeholders.ts'

/** All that the sources say of a chat, without the texts of its messages. */
export interface ChatSayings {
  readonly messages: readonly NextMessage[]
  /** The source that decides the chat's facts. */
  readonly owner: number
  readonly chatTime: ChatTime | null
  readonly ranks: SourceRanks
  /** A source's order of the chat; null if it gives none, undefined if it never had the chat's own row. */
  readonly outlineOf: (source: number) => Outline | undefined
  readonly placeholdersOf: (source: number) => readonly Placeholder[]
  /** Whether another chat contains the message, which then only repeats it. */
  readonly isRepeated: (message: MessageColumns) => boolean
}

export interface Assembled {
  readonly placed: readonly PlacedMessage[]
  readonly lent: LentTokens
}

export type PlacedMessage = readonly [NextMessage, Place]

/**
 * Places all messages of a chat. The best source with messages gives the order. A message of another source is placed if
 * that order names it, or by its time if there is no order. Messages with the same text as the thread are copies. The
 * others are orphans.
 */
export function assemble(chat: ChatSayings): Assembled {
  const { messages, ranks, chatTime } = chat
  const best = bestSource(messages, ranks)
  const { chosen, repeated } = chooseById(chat, best)
  // All archives of a chat count as one source, even if different mirrors made them.
  const isOfArchives = best !== null && ranks.isArchive(best)
  const isBest = (source: number): boolean => source === best || (isOfArchives && ranks.isArchive(source))
  const isOneSource = chosen.every(({ columns }) => isBest(columns.source))
  const merged = isOneSource || best === null ? null : mergedList(chat, best)
  const outline = merged?.outline ?? (best === null ? null : orderOf(chat, best))
  const named = new Set(isOneSource ? [] : outline?.map(({ id }) => id))
  const isPlacedByOrder = ({ columns }: NextMessage): boolean => isBest(columns.source) || named.has(columns.id)
  const placedByOrder = isOneSource ? chosen : chosen.filter(isPlacedByOrder)
  const foreign = isOneSource
    ? []
    : chosen
        .filter((message) => !isPlacedByOrder(message))
        .toSorted((a, b) => ranks.compare(a.columns.source, b.columns.source))
  // Messages in merged lists were compared one by one.
  const others = foreign.filter(({ columns }) => merged?.listed.has(columns.id) !== true)
  const repeats = foreign.filter(({ columns }) => merged?.repeated.has(columns.id))
  const copies = new Set([...findCopies(placedByOrder, others), ...repeats])
  const joining = outline === null ? foreign.filter((one) => hasTime(one.columns) && !copies.has(one)) : []
  const inThread = new Map([...placedByOrder, ...joining].map((message) => [message.columns.id, message]))
  const outside = foreign.filter((one) => inThread.get(one.columns.id) !== one)
  const entries = Array.from(inThread.values(), threadEntry)
  const thread = arrangeThread(outline, entries, chatTime).flatMap((placement): readonly PlacedMessage[] => {
    const message = inThread.get(placement.id)
    return message === undefined ? [] : [[message, placeColumns(placement)]]
  })
  const placed = [
    ...thread,
    ...placeForeign(
      outside.filter((message) => !copies.has(message)),
      placedByOrder,
      chatTime,
    ),
    ...[...outside.filter((message) => copies.has(message)), ...repeated].map(
      (message) => [message, placeCopy(message.columns)] as const,
    ),
  ]
  return { placed, lent: best === null ? new Map() : lendInThread(chat, best, outline, entries, placed) }
}

/**
 * Places the messages of one part of a long chat relative to each other only. All messages of the chat are placed together
 * with the last part: doing that after each part would multiply the memory and time for a long chat.
 */
export function arrangePart(
  messages: readonly NextMessage[],
  outline: Outline,
  chatTime: ChatTime | null,
): readonly PlacedMessage[] {
  const read = new Map(messages.map((message) => [message.columns.id, message]))
  return arrangeThread(outline, messages.map(threadEntry), chatTime).flatMap((placement) => {
    const message = read.get(placement.id)
    return message === undefined ? [] : [[message, placeColumns(placement)] as const]
  })
}

function lendInThread(
  { placeholdersOf, ranks }: ChatSayings,
  best: number,
  outline: Outline,
  entries: readonly ThreadEntry[],
  placed: readonly PlacedMessage[],
): LentTokens {
  const placeholders = placeholdersOf(best)
  if (placeholders.length === 0) return new Map()
  // A row that is also held as a message would count twice.
  const held = new Set(placed.map(([{ columns }]) => columns.id))
  const shown = placed.flatMap(([{ columns }, { is_orphan }]) =>
    is_orphan === 0 ? [[columns.id, columns] as const] : [],
  )
  const isSettled = ({ source }: MessageColumns): boolean => ranks.isArchive(source)
  return lendTokens(
    { outline, entries, shown: new Map(shown), isSettled },
    placeholders.filter(({ id }) => !held.has(id)),
  )
}

/** Orphans of other sources, dated like orphans of the best source. They are indexed unless the thread has the same content. */
function placeForeign(
  foreign: readonly NextMessage[],
  placedByOrder: readonly NextMessage[],
  chatTime: ChatTime | null,
): PlacedMessage[] {
  const contents = new Set(placedByOrder.map(({ columns }) => columns.content_hash))
  return foreign.flatMap((message) =>
    arrangeThread([], [threadEntry(message)], chatTime).map((placement) => {
      const isShadowed = contents.has(message.columns.content_hash)
      return [message, placeColumns({ ...placement, isShadowed })] as const
    }),
  )
}

/** The order to use. That of an archive orders the archive's messages, and those of a source that never had the chat's own row. */
function orderOf({ owner, ranks, outlineOf }: ChatSayings, best: number): Outline {
  const by = ranks.isArchive(best) && ranks.isArchive(owner) ? owner : best
  return outlineOf(by) ?? (ranks.isArchive(owner) ? (outlineOf(owner) ?? null) : null)
}

/** The list of the best source, completed by the lists of others with the same rank; null if there are none. */
function mergedList(chat: ChatSayings, best: number): MergedThread | null {
  const { messages, ranks } = chat
  const listOf = (source: number): ListedThread[] => {
    const own = messages.filter(({ columns }) => columns.source === source && columns.is_embedded === 1)
    const outline = own.length === 0 ? null : orderOf(chat, source)
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
  /** Other sources' rows of the same messages, and messages that another chat contains. */
  readonly repeated: readonly NextMessage[]
}

/** Chooses one of several rows of a message: live rows first, then the row of the best source. */
function chooseById({ messages, ranks, isRepeated }: ChatSayings, best: number | null): ChosenRows {
  const chosen = new Map<MessageId, NextMessage>()
  const repeated: NextMessage[] = []
  const isBetter = (one: MessageColumns, other: MessageColumns): boolean => {
    if (one.is_live !== other.is_live) return one.is_live > other.is_live
    if (other.source === best) return false
    return one.source === best || ranks.best([one.source, other.source]) === one.source
  }
  for (const message of messages) {
    const rival = chosen.get(message.columns.id)
    if (isRepeated(message.columns)) repeated.push(message)
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
function bestSource(messages: readonly NextMessage[], ranks: SourceRanks): number | null {
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

const threadEntry = ({ columns }: NextMessage): ThreadEntry => ({
  id: columns.id,
  alias: columns.alias,
  role: columns.role,
  sentAtMs: columns.sent_at,
  startedAtMs: columns.started_at,
  timingAtMs: columns.timing_at,
  isLive: columns.is_live === 1,
  contentHash: columns.content_hash,
})

const placeColumns = (placement: Placement): Place => ({
  position: placement.position,
  created_at: placement.createdAtMs,
  created_at_source: placement.createdAtSource,
  is_orphan: placement.isOrphan ? 1 : 0,
  is_shadowed: placement.isShadowed ? 1 : 0,
})

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
