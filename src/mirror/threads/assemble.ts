import { type MessageId, asMessageId } from '../../model/ids.ts'
import type { Role } from '../../model/message.ts'
import type { ChatTime, Outline, OutlineEntry } from '../../model/thread.ts'
import type { SourceRanks } from '../sources/sources.ts'
import type { NextMessage, Place, SaidMessage } from '../write/messages.ts'
import { splitTextKeys } from '../write/pack-message.ts'

/** All that the sources say of a chat, without the texts of its messages. */
export interface ChatSayings {
  readonly messages: readonly NextMessage[]
  /** The source that decides the chat's facts. */
  readonly owner: number
  readonly chatTime: ChatTime | null
  readonly ranks: SourceRanks
  /** A source's order of the chat; null if it gives none, undefined if it never had the chat's own row. */
  readonly outlineOf: (source: number) => Outline | undefined
  /** Whether another chat contains the message, which then only repeats it. */
  readonly isRepeated: (message: SaidMessage) => boolean
}

export interface Assembled {
  readonly placed: readonly (readonly [NextMessage, Place])[]
  /** The source that gives the order; null if there is no message. */
  readonly best: number | null
  readonly outline: Outline
  /** The messages that have a place in the order, or could have one. */
  readonly thread: readonly NextMessage[]
}

/**
 * Places all messages of a chat. The best source with messages gives the order. A message of another source is placed if
 * that order names it, or by its time if there is no order. Messages with the same text as the thread are copies. The
 * others are orphans.
 */
export function assemble(chat: ChatSayings): Assembled {
  const { messages, ranks, chatTime } = chat
  const said = messages.filter(({ columns }) => !isDocument(columns))
  const best = bestSource(said.length === 0 ? messages : said, ranks)
  if (best === null) return { placed: [], best, outline: null, thread: [] }
  const { chosen, repeated } = chooseById(chat, best)
  const outline = withDocuments(completedOrder(chat, best), messages)
  const named = new Set(outline?.map(({ id }) => id))
  // All archives of a chat count as one source, even if different mirrors made them.
  const isPlacedByOrder = ({ columns: { source, id } }: NextMessage): boolean =>
    source === best || named.has(id) || (ranks.isArchive(best) && ranks.isArchive(source))
  const placedByOrder = chosen.filter(isPlacedByOrder)
  const foreign = chosen
    .filter((message) => !isPlacedByOrder(message))
    .toSorted((a, b) => ranks.compare(a.columns.source, b.columns.source))
  const copies = findCopies(placedByOrder, foreign)
  const fresh = foreign.filter((message) => !copies.has(message))
  const joins = ({ columns }: NextMessage): boolean => outline === null && (hasTime(columns) || isDocument(columns))
  const thread = [...placedByOrder, ...fresh.filter(joins)]
  // Orphans of other sources are indexed unless the thread has the same content.
  const contents = new Set(placedByOrder.map(({ columns }) => columns.content_hash))
  const placed = [
    ...arrange(outline, thread, chatTime),
    ...fresh
      .filter((message) => !joins(message))
      .map((message) => [message, placeOrphan(message.columns, contents, chatTime)] as const),
    ...[...foreign.filter((message) => copies.has(message)), ...repeated].map(
      (message) => [message, placeCopy(message.columns)] as const,
    ),
  ]
  return { placed, best, outline, thread }
}

/** The order to use. That of an archive orders the archive's messages, and those of a source that never had the chat's own row. */
function orderOf({ owner, ranks, outlineOf }: ChatSayings, best: number): Outline {
  const by = ranks.isArchive(best) && ranks.isArchive(owner) ? owner : best
  return outlineOf(by) ?? (ranks.isArchive(owner) ? (outlineOf(owner) ?? null) : null)
}

/**
 * The order of the best source. What only another source of its rank has follows the last message before it that both
 * have: Cursor writes a chat to several stores when a window changes its folder. If two lists have nothing in common,
 * nothing tells where the messages belong, and they are left out.
 */
function completedOrder(chat: ChatSayings, best: number): Outline {
  const { messages, ranks } = chat
  let order = orderOf(chat, best)
  const others = new Set(messages.map(({ columns }) => columns.source))
  for (const source of [...others].toSorted((a, b) => ranks.compare(a, b))) {
    if (order === null || source === best || ranks.of(source) !== ranks.of(best) || ranks.isArchive(source)) continue
    const said = new Map(messages.map(({ columns }) => [`${columns.source} ${columns.id}`, columns]))
    const contentOf = (of: number, { id }: OutlineEntry): string | null => {
      const message = said.get(`${of} ${id}`)
      if (message === undefined || message.is_embedded === 0) return null
      // A text transcript has the same words in other parts.
      return `${message.role} ${splitTextKeys(message.text_keys).at(-1) ?? message.content_hash}`
    }
    const contents = order.map((entry) => contentOf(best, entry))
    const ids = new Set(order.map(({ id }) => id))
    const followers = new Map<number, OutlineEntry[]>()
    let last = -1
    for (const entry of orderOf(chat, source) ?? []) {
      const content = contentOf(source, entry)
      if (content === null) continue
      const place = contents.indexOf(content, last + 1)
      if (place !== -1) last = place
      else if (!ids.has(entry.id)) followers.set(last, [...(followers.get(last) ?? []), entry])
    }
    if (last === -1) continue
    order = [...(followers.get(-1) ?? []), ...order.flatMap((entry, at) => [entry, ...(followers.get(at) ?? [])])]
  }
  return order
}

/**
 * Chooses one of several rows of a message: live rows first, then the row of the best source. Repeated are the others, and
 * messages that another chat contains.
 */
function chooseById({ messages, ranks, isRepeated }: ChatSayings, best: number) {
  const chosen = new Map<MessageId, NextMessage>()
  const repeated: NextMessage[] = []
  const isBetter = (one: SaidMessage, other: SaidMessage): boolean => {
    if (one.is_live !== other.is_live) return one.is_live > other.is_live
    if (other.source === best) return false
    return one.source === best || ranks.compare(one.source, other.source) < 0
  }
  for (const message of messages) {
    const { columns } = message
    const rival = chosen.get(columns.id)
    if (isRepeated(columns) || (rival !== undefined && !isBetter(columns, rival.columns))) repeated.push(message)
    else {
      if (rival !== undefined) repeated.push(rival)
      chosen.set(columns.id, message)
    }
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

const isLive = ({ columns }: Placeable): boolean => columns.is_live === 1

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
  if (first === null || ranks.isArchive(first)) return first
  const rivals = [...counts].filter(([source]) => ranks.of(source) === ranks.of(first))
  const most = Math.max(...rivals.map(([, count]) => count))
  return ranks.best(rivals.flatMap(([source, count]) => (count === most ? source : [])))
}

/**
 * The messages that only repeat texts of the thread, or of a better source. Sources use different ids and split messages
 * differently, so texts are compared: a message is a copy if the thread contains all its texts. A message of only tool
 * calls without outputs is a copy if the thread has tool calls.
 */
function findCopies(thread: readonly NextMessage[], others: readonly NextMessage[]): ReadonlySet<NextMessage> {
  const copies = new Set<NextMessage>()
  if (others.length === 0) return copies
  const known = new Set(thread.flatMap(({ columns }) => splitTextKeys(columns.text_keys)))
  const hasTools = thread.some(({ columns }) => columns.tool_calls > 0)
  // A source is compared with those before it but not with itself: the same text can be sent twice.
  for (const source of new Set(others.map(({ columns }) => columns.source))) {
    const fresh: string[] = []
    for (const message of others.filter(({ columns }) => columns.source === source)) {
      const keys = splitTextKeys(message.columns.text_keys)
      const isCopy =
        keys.length === 0 ? hasTools && message.columns.text_keys === '' : keys.every((key) => known.has(key))
      if (isCopy) copies.add(message)
      else fresh.push(...keys)
    }
    for (const key of fresh) known.add(key)
  }
  return copies
}

/** What decides its place and time: of a message, or of a row with nothing to show. */
export interface Placeable {
  readonly columns: Pick<
    SaidMessage,
    'id' | 'alias' | 'role' | 'sent_at' | 'started_at' | 'timing_at' | 'is_live' | 'content_hash'
  >
}

/**
 * Gives messages of a chat their order and times.
 * Order: the chat's outline; without one, by time. A message that the outline does not name is an orphan.
 * Times, best first: the row's own, the outline's, the request timings, a neighbour's, the chat's. The origin of each time
 * is returned with it.
 */
export function arrange<Item extends Placeable>(
  outline: Outline,
  items: readonly Item[],
  chatTime: ChatTime | null,
): (readonly [Item, Place])[] {
  const ordered = outline === null ? orderByTime(items) : orderByOutline(outline, items)
  const own = ordered.map(([position, { columns }]) => ownTime(columns, outline?.[position]))
  const next = carry(own.toReversed()).toReversed()
  const previous = carry(own)
  const placed = ordered.map(([position, item], at) => {
    const [before, after] = [previous[at], next[at]]
    // An answer was written soon after its question. The user may ask days after the answer before.
    const nearest = item.columns.role === 'assistant' ? (before ?? after) : (after ?? before)
    return [item, placeAt(position, own[at] ?? (nearest && { ...nearest, source: 'neighbour' }) ?? chatTime)] as const
  })
  // Nearly always. For a long chat, two more sets of all its messages would be in memory.
  if (placed.length === items.length) return placed
  const inThread = new Set(placed.map(([item]) => item))
  const contents = new Set(placed.map(([{ columns }]) => columns.content_hash))
  const orphans = items.filter((item) => !inThread.has(item))
  return [...placed, ...orphans.map((item) => [item, placeOrphan(item.columns, contents, chatTime)] as const)]
}

function orderByTime<Item extends Placeable>(items: readonly Item[]): (readonly [number, Item])[] {
  const timeOf = ({ columns }: Item): number => ownTime(columns)?.atMs ?? Number.MAX_SAFE_INTEGER
  // Ids break ties: random, but stable across rebuilds. Rowids would change with every rewrite.
  return items
    .toSorted((a, b) => timeOf(a) - timeOf(b) || (a.columns.id < b.columns.id ? -1 : 1))
    .map((item, position) => [position, item])
}

/**
 * Places messages by id. After a checkpoint restore, the outline and the rows have different ids but the same start times,
 * so the remaining messages are matched by their alias, then by role and start time. A message whose row vanished keeps its
 * place only if no live row takes it.
 */
function orderByOutline<Item extends Placeable>(
  outline: NonNullable<Outline>,
  items: readonly Item[],
): (readonly [number, Item])[] {
  const taken = new Map<number, Item>()
  const left = new Map(items.map((item) => [item.columns.id, item]))
  /** @param find the messages that an entry may mean */
  const take = (find: (listed: OutlineEntry) => readonly (Item | undefined)[]): void => {
    for (const [position, listed] of outline.entries()) {
      // Usually the outline names every row. A part of a long chat is found long before its end.
      if (left.size === 0) return
      const found = taken.has(position) ? undefined : find(listed).find((item) => item && left.has(item.columns.id))
      if (found === undefined) continue
      taken.set(position, found)
      left.delete(found.columns.id)
    }
  }
  const listLive = (): Item[] => [...left.values()].filter(isLive)
  const byId = new Map(listLive().map((item) => [item.columns.id, item]))
  take(({ id }) => (id === null ? [] : [byId.get(id)]))
  const byAlias = new Map(listLive().map((item) => [item.columns.alias, item]))
  take(({ id }) => (id === null ? [] : [byAlias.get(id)]))
  const byStart = indexByStart(listLive())
  take(({ role, startedAtMs, createdAtMs }) =>
    [startedAtMs, createdAtMs].flatMap((atMs) =>
      (role === null ? (['user', 'assistant'] as const) : [role]).flatMap(
        (of) => byStart.get(startKey(of, atMs)) ?? [],
      ),
    ),
  )
  take(({ id }) => (id === null ? [] : [left.get(id)]))
  return [...taken].sort(([a], [b]) => a - b)
}

function indexByStart<Item extends Placeable>(items: readonly Item[]): ReadonlyMap<string, readonly Item[]> {
  const byStart = new Map<string, Item[]>()
  for (const item of items) {
    const { role, started_at: startedAt, sent_at: sentAt, timing_at: timingAt } = item.columns
    for (const atMs of new Set([startedAt, sentAt, timingAt])) {
      if (atMs === null) continue
      const key = startKey(role, atMs)
      const same = byStart.get(key)
      if (same === undefined) byStart.set(key, [item])
      else same.push(item)
    }
  }
  return byStart
}

const startKey = (role: Role, atMs: number | null): string => `${role} ${atMs}`

interface Time {
  readonly atMs: number
  readonly source: NonNullable<Place['created_at_source']>
}

const hasTime = ({ sent_at, started_at, timing_at }: SaidMessage): boolean =>
  (sent_at ?? started_at ?? timing_at) !== null

function ownTime({ sent_at, timing_at }: Placeable['columns'], listed?: OutlineEntry): Time | null {
  if (sent_at !== null) return { atMs: sent_at, source: 'message' }
  const listedAtMs = listed?.createdAtMs ?? listed?.startedAtMs ?? null
  if (listedAtMs !== null) return { atMs: listedAtMs, source: 'header' }
  return timing_at === null ? null : { atMs: timing_at, source: 'timing' }
}

/** For each index, the last time seen so far. */
function carry(times: readonly (Time | null)[]): (Time | null)[] {
  let last: Time | null = null
  return times.map((time) => (last = time ?? last))
}

const placeAt = (position: number | null, time: Time | null): Place => ({
  position,
  created_at: time?.atMs ?? null,
  created_at_source: time?.source ?? null,
  is_orphan: 0,
  is_shadowed: 0,
})

/** An orphan with the same content as a message of the thread is stored but not indexed. */
const placeOrphan = (
  columns: Placeable['columns'],
  contents: ReadonlySet<string>,
  chatTime: ChatTime | null,
): Place => ({
  ...placeAt(null, ownTime(columns) ?? chatTime),
  is_orphan: 1,
  is_shadowed: contents.has(columns.content_hash) ? 1 : 0,
})

const placeCopy = ({ sent_at }: SaidMessage): Place => ({
  ...placeAt(null, sent_at === null ? null : { atMs: sent_at, source: 'message' }),
  is_orphan: 2,
  is_shadowed: 1,
})

/** Ids of Cursor's own messages do not begin like this. */
const PREFIX = 'plan-'

/** @param name of the plan's file, which stays the same when the plan changes */
export const documentId = (name: string): MessageId => asMessageId(`${PREFIX}${name}`)

/**
 * A document is a file that belongs to a chat, such as a plan, and is a message of it. Its second id names the message that it
 * follows. It does not tell whether Cursor still has the chat.
 */
export const isDocument = ({ id }: { readonly id: string }): boolean => id.startsWith(PREFIX)

/** SQL: whether a message is a document. */
export const IS_DOCUMENT = `messages.id glob '${PREFIX}*'`

/** The order with all documents, each after the message that it follows, or at the end if that is unknown. */
export function withDocuments(outline: Outline, messages: readonly NextMessage[]): Outline {
  const all = messages.flatMap(({ columns }) => (isDocument(columns) ? columns : []))
  // Most chats have none.
  if (outline === null || all.length === 0) return outline
  const named = new Set(outline.map(({ id }) => id))
  // An archive may have the same one.
  const unnamed = new Map(all.flatMap((document) => (named.has(document.id) ? [] : [[document.id, document]])))
  const documents = [...unnamed.values()].toSorted((one, other) => (one.id < other.id ? -1 : 1))
  const entryOf = ({ id, role }: (typeof documents)[number]) => ({ id, role, createdAtMs: null, startedAtMs: null })
  const follow = (id: MessageId | null) => documents.filter(({ alias }) => alias !== null && alias === id).map(entryOf)
  const rest = documents.filter(({ alias }) => alias === null || !named.has(alias)).map(entryOf)
  return [...outline.flatMap((entry) => [entry, ...follow(entry.id)]), ...rest]
}
