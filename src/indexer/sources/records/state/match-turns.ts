import type { Role } from '../../../../model/message.ts'
import type { ModelEntry } from './model-messages.ts'
import { decodeEntry, type Said, keysOfSaid } from './model-parts.ts'
import type { DecodedItem } from './read-turns.ts'

export interface TurnMatch {
  /** So many of the items come before everything that the list holds. */
  readonly before: number
  /** When an entry of the list was said, by its index: epoch ms. */
  readonly times: ReadonlyMap<number, number>
}

/**
 * Finds the messages of a list among what the turns tell. Words, thoughts and ids of calls are compared. Where the same
 * stands several times, the last is paired with the last: a list that lost messages lost the oldest. Pairs that cross
 * others are dropped.
 * @param hasSummary whether the list is known to have lost messages
 */
export function matchTurns(list: readonly ModelEntry[], items: readonly DecodedItem[], hasSummary: boolean): TurnMatch {
  const sayings = list.flatMap(({ message }, at) => sayingsOf(decodeEntry(message), at))
  const pairs = longestRising(pairUp(sayings, items))
  const times = new Map<number, number>()
  for (const { saying, item } of pairs) {
    const at = sayings[saying]?.at
    const atMs = items[item]?.entry?.atMs ?? null
    if (at !== undefined && atMs !== null) times.set(at, Math.min(atMs, times.get(at) ?? atMs))
  }
  const [first] = pairs
  if (first === undefined && !hasSummary) return { before: 0, times }
  const unpaired = sayings.slice(0, first?.saying ?? sayings.length)
  return { before: stepBack(first?.item ?? items.length, unpaired, items), times }
}

interface Saying {
  /** Index of its entry. */
  readonly at: number
  /** Null for what could not be read. */
  readonly role: Role | null
  readonly key: string | null
}

function sayingsOf(said: Said, at: number): Saying[] {
  if (said.isGap) return [{ at, role: null, key: null }]
  return said.isSimulated ? [] : keysOfSaid(said).map((key) => ({ at, role: said.role, key }))
}

interface Pair {
  readonly saying: number
  readonly item: number
}

/** In the order of the list. */
function pairUp(sayings: readonly Saying[], items: readonly DecodedItem[]): Pair[] {
  const wanted = new Set(sayings.flatMap(({ key }) => key ?? []))
  const places = new Map<string, number[]>()
  for (const [item, { keys }] of items.entries()) {
    const key = keys.find((each) => wanted.has(each))
    if (key !== undefined) places.set(key, [...(places.get(key) ?? []), item])
  }
  const pairs: Pair[] = []
  for (let saying = sayings.length - 1; saying >= 0; saying -= 1) {
    const item = places.get(sayings[saying]?.key ?? '')?.pop()
    if (item !== undefined) pairs.push({ saying, item })
  }
  return pairs.reverse()
}

/** The most pairs of which none crosses another. */
function longestRising(pairs: readonly Pair[]): readonly Pair[] {
  interface Run {
    readonly pair: Pair
    readonly before: Run | null
  }
  /** By its length, the run of that length that ends lowest. */
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

/** What stands unpaired at the head of the list may be the items before, in another form: those are not told again. */
function stepBack(from: number, unpaired: readonly Saying[], items: readonly DecodedItem[]): number {
  let before = from
  for (const { role } of unpaired.toReversed()) {
    const item = items[before - 1]
    if (item === undefined) break
    if (role === null || item.role === null || item.role === role) before -= 1
  }
  return before
}
