import type { MessageId } from '../../model/ids.ts'
import type { OutlineEntry } from '../../model/thread.ts'
import { longestRising } from './longest-rising.ts'

/** A chat as one source lists it. */
export interface ListedThread {
  readonly outline: readonly OutlineEntry[]
  /** The role and the content of each message, in a form that can be compared. */
  readonly contents: ReadonlyMap<MessageId, string>
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
}

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
    for (const [at, place] of places.entries()) {
      const id = items[at]?.entry.id ?? null
      if (id !== null) listed.add(id)
      if (id !== null && place !== null && merged[place]?.entry.id !== id) repeated.add(id)
    }
    merged = insertUnpaired(merged, items, places)
  }
  return { outline: merged.map(({ entry }) => entry), listed, repeated }
}

const itemsOf = ({ outline, contents }: ListedThread): readonly Item[] =>
  outline.map((entry) => ({ entry, content: entry.id === null ? null : (contents.get(entry.id) ?? null) }))

/** For each item its place in the thread: that of its id, else of the first message with its content that is still free. */
function pairUp(thread: readonly Item[], items: readonly Item[]): readonly (number | null)[] {
  const byId = new Map(thread.map(({ entry }, place) => [entry.id, place]))
  const own = items.map(({ entry }) => byId.get(entry.id) ?? null)
  const taken = new Set(own)
  const free = new Map<string | null, number[]>()
  for (const [place, { content }] of thread.entries()) {
    if (taken.has(place)) continue
    const places = free.get(content)
    if (places === undefined) free.set(content, [place])
    else places.push(place)
  }
  return items.map(({ content }, at) => own[at] ?? free.get(content)?.shift() ?? null)
}

function insertUnpaired(
  thread: readonly Item[],
  items: readonly Item[],
  places: readonly (number | null)[],
): readonly Item[] {
  const pairs = places.flatMap((item, piece) => (item === null ? [] : { piece, item }))
  const anchors = new Map(longestRising(pairs).map(({ piece, item }) => [piece, item]))
  const [first] = anchors.values()
  if (first === undefined) return thread
  const after = new Map<number, Item[]>()
  let last = first - 1
  for (const [at, item] of items.entries()) {
    last = anchors.get(at) ?? last
    if (places[at] === null) after.set(last, [...(after.get(last) ?? []), item])
  }
  return [...(after.get(-1) ?? []), ...thread.flatMap((item, place) => [item, ...(after.get(place) ?? [])])]
}
