import type { MessageId } from '../../model/ids.ts'
import type { OutlineEntry } from '../../model/thread.ts'
import type { SaidMessage } from '../write/messages.ts'
import { splitTextKeys } from '../write/pack-message.ts'

/** A chat as one source lists it. */
export interface ListedThread {
  readonly outline: readonly OutlineEntry[]
  readonly messages: readonly SaidMessage[]
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
  /** The role and the content, in a form that can be compared; null if there is no such message. */
  readonly content: string | null
  /** The role and a hash of each text. */
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

function itemsOf({ outline, messages }: ListedThread): readonly Item[] {
  const byId = new Map<MessageId | null, SaidMessage>(messages.map((message) => [message.id, message]))
  return outline.map((entry) => {
    const message = byId.get(entry.id)
    if (message === undefined) return { entry, content: null, textKeys: [] }
    const { role, content_hash: hash, text_keys: keys } = message
    return { entry, content: `${role} ${hash}`, textKeys: splitTextKeys(keys).map((key) => `${role} ${key}`) }
  })
}

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
    const item = inThread.get(content) ?? null
    return piece === null || item === null ? [] : [{ piece, item }]
  })
}

/** The places of the contents, in the order of the list; null for one that occurs several times. */
function uniqueContents(items: readonly Item[]): ReadonlyMap<string, number | null> {
  const places = new Map<string, number | null>()
  for (const [place, { content }] of items.entries()) {
    if (content !== null) places.set(content, places.has(content) ? null : place)
  }
  return places
}

/**
 * Looks at what stands in both lists between two neighbouring pairs. Pairs messages with the same id, and messages whose
 * texts the other list has in another form: a text transcript lacks some of what is in the newer form, so the same words
 * have another content there.
 */
function pairInGaps(thread: readonly Item[], items: readonly Item[], places: Places): void {
  const pairs = [...places].toSorted(([at], [other]) => at - other)
  let [at, place] = [0, 0]
  for (const [nextAt, nextPlace] of [...pairs, [items.length, thread.length] as const]) {
    const placesById = new Map<MessageId | null, number>()
    const placesByText = new Map<string, number>()
    const contents = new Set<string | null>()
    let last = place - 1
    for (const [offset, { entry, content, textKeys }] of thread.slice(place, nextPlace).entries()) {
      placesById.set(entry.id, place + offset)
      for (const key of textKeys) placesByText.set(key, place + offset)
      contents.add(content)
    }
    for (const [offset, { entry, content, textKeys }] of items.slice(at, nextAt).entries()) {
      const placeOfId = placesById.get(entry.id)
      if (placeOfId !== undefined && placeOfId > last) places.set(at + offset, (last = placeOfId))
      // An equal message that is not beside a pair may be said again.
      if (contents.has(content)) continue
      const placeOfText = placesByText.get(textKeys.at(-1) ?? '')
      if (placeOfText === undefined || !textKeys.every((key) => placesByText.has(key))) continue
      places.set(at + offset, placeOfText)
      // What is said twice here was not said twice there.
      for (const key of textKeys) placesByText.delete(key)
    }
    at = nextAt + 1
    place = nextPlace + 1
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
