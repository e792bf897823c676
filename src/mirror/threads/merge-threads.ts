import type { MessageId } from '../../model/ids.ts'
import type { OutlineEntry } from '../../model/thread.ts'

/** A chat as one source lists it. */
export interface ListedThread {
  readonly outline: readonly OutlineEntry[]
  /** The role and the content of each message, in a form that can be compared. */
  readonly contents: ReadonlyMap<MessageId, string>
  /** The role and a hash of each text of each message. */
  readonly textKeys: ReadonlyMap<MessageId, readonly string[]>
}

export interface MergedThread {
  readonly outline: readonly OutlineEntry[]
  /** All messages that the other lists name. */
  readonly listed: ReadonlySet<MessageId>
  /** Those of them that the merged list has under another id. */
  readonly repeated: ReadonlySet<MessageId>
}

interface Item {
  readonly entry: OutlineEntry
  readonly content: string | null
  readonly textKeys: readonly string[]
}

/** The place in the thread of each item that the thread has, by the item's index. */
type Places = Map<number, number>

/**
 * Completes a list of a chat by others of the same chat, as Cursor writes them when a window changed its folder. Equal
 * messages in the same order are one message. What only another list has follows the last message before it that both
 * have. If two lists have nothing in common, nothing tells where the messages belong, and they are left out.
 */
export function mergeThreads(first: ListedThread, others: readonly ListedThread[]): MergedThread {
  const listed = new Set<MessageId>()
  const repeated = new Set<MessageId>()
  let merged = itemsOf(first)
  for (const other of others) {
    const items = itemsOf(other).filter(({ content }) => content !== null)
    const places = pairUp(merged, items)
    for (const [at, { entry }] of items.entries()) {
      if (entry.id === null) continue
      listed.add(entry.id)
      const place = places.get(at)
      if (place !== undefined && merged[place]?.entry.id !== entry.id) repeated.add(entry.id)
    }
    merged = insertUnpaired(merged, items, places)
  }
  return { outline: merged.map(({ entry }) => entry), listed, repeated }
}

const itemsOf = ({ outline, contents, textKeys }: ListedThread): readonly Item[] =>
  outline.map((entry) => ({
    entry,
    content: entry.id === null ? null : (contents.get(entry.id) ?? null),
    textKeys: entry.id === null ? [] : (textKeys.get(entry.id) ?? []),
  }))

/**
 * Pairs what occurs once in both lists, and then the equal neighbours of each pair. So a prompt that is repeated all the
 * time, such as "continue", is paired only beside a message that is certain, or at the beginning of both lists.
 */
function pairUp(thread: readonly Item[], items: readonly Item[]): Places {
  const anchors = longestRising(uniquePairs(thread, items))
  const places: Places = new Map(anchors.map(({ piece, item }) => [piece, item]))
  const taken = new Set(places.values())
  const extend = (from: Pair, step: 1 | -1): void => {
    let [at, place] = [from.piece + step, from.item + step]
    while (!places.has(at) && !taken.has(place) && isEqual(items[at], thread[place])) {
      places.set(at, place)
      taken.add(place)
      at += step
      place += step
    }
  }
  const beginning = { piece: -1, item: -1 }
  for (const from of [beginning, ...anchors]) {
    extend(from, 1)
    extend(from, -1)
  }
  pairInGaps(thread, items, places)
  return places
}

const isEqual = (one: Item | undefined, other: Item | undefined): boolean =>
  one !== undefined && one.content !== null && one.content === other?.content

function uniquePairs(thread: readonly Item[], items: readonly Item[]): readonly Pair[] {
  const inThread = uniqueContents(thread)
  return [...uniqueContents(items)].flatMap(([content, piece]) => {
    const item = inThread.get(content)
    return item === undefined ? [] : [{ piece, item }]
  })
}

/** The places of the contents that occur once, in the order of the list. */
function uniqueContents(items: readonly Item[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>()
  const several = new Set<string>()
  for (const [place, { content }] of items.entries()) {
    if (content === null) continue
    if (places.has(content)) several.add(content)
    else places.set(content, place)
  }
  for (const content of several) places.delete(content)
  return places
}

/** Looks at what stands in both lists between two neighbouring pairs. */
function pairInGaps(thread: readonly Item[], items: readonly Item[], places: Places): void {
  const pairs = [...places].toSorted(([at], [other]) => at - other)
  let [at, place] = [0, 0]
  for (const [nextAt, nextPlace] of [...pairs, [items.length, thread.length] as const]) {
    if (at < nextAt && place < nextPlace) pairInGap(thread, items, places, { at, nextAt, place, nextPlace })
    at = nextAt + 1
    place = nextPlace + 1
  }
}

interface Gap {
  readonly at: number
  readonly nextAt: number
  readonly place: number
  readonly nextPlace: number
}

/**
 * Pairs messages with the same id, and messages whose texts the other list has in another form: a text transcript lacks
 * some of what is in the newer form, so the same words have another content there.
 */
function pairInGap(thread: readonly Item[], items: readonly Item[], places: Places, gap: Gap): void {
  const placesById = new Map<MessageId | null, number>()
  const placesByText = new Map<string, number>()
  const contents = new Set<string | null>()
  for (const [offset, { entry, content, textKeys }] of thread.slice(gap.place, gap.nextPlace).entries()) {
    placesById.set(entry.id, gap.place + offset)
    for (const key of textKeys) placesByText.set(key, gap.place + offset)
    contents.add(content)
  }
  let last = gap.place - 1
  for (const [offset, { entry, content, textKeys }] of items.slice(gap.at, gap.nextAt).entries()) {
    const place = placesById.get(entry.id)
    if (place !== undefined && place > last) {
      places.set(gap.at + offset, place)
      last = place
    }
    // An equal message that is not beside a pair may be said again.
    if (contents.has(content)) continue
    const placeOfText = placesByText.get(textKeys.at(-1) ?? '')
    if (placeOfText === undefined || !textKeys.every((key) => placesByText.has(key))) continue
    places.set(gap.at + offset, placeOfText)
    // What is said twice here was not said twice there.
    for (const key of textKeys) placesByText.delete(key)
  }
}

function insertUnpaired(thread: readonly Item[], items: readonly Item[], places: Places): readonly Item[] {
  const first = items.map((_, at) => places.get(at)).find((place) => place !== undefined)
  if (first === undefined) return thread
  const ids = new Set(thread.map(({ entry }) => entry.id))
  const after = new Map<number, Item[]>()
  let last = first - 1
  for (const [at, item] of items.entries()) {
    const place = places.get(at)
    if (place !== undefined) last = Math.max(last, place)
    else if (!ids.has(item.entry.id)) {
      const followers = after.get(last)
      if (followers === undefined) after.set(last, [item])
      else followers.push(item)
    }
  }
  return [...(after.get(-1) ?? []), ...thread.flatMap((item, place) => [item, ...(after.get(place) ?? [])])]
}

export interface Pair {
  readonly piece: number
  readonly item: number
}

/**
 * The largest set of pairs that do not cross (longest increasing subsequence).
 * @param pairs by ascending `piece`
 */
export function longestRising(pairs: readonly Pair[]): readonly Pair[] {
  interface Run {
    readonly pair: Pair
    readonly before: Run | null
  }
  /** By length: the run of that length with the lowest last item. */
  const runs: Run[] = []
  for (const pair of pairs) {
    let [low, high] = [0, runs.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((runs[middle]?.pair.item ?? 0) < pair.item) low = middle + 1
      else high = middle
    }
    runs[low] = { pair, before: runs[low - 1] ?? null }
  }
  const found: Pair[] = []
  for (let run = runs.at(-1) ?? null; run !== null; run = run.before) found.push(run.pair)
  return found.reverse()
}
