import { longestRising, type Pair } from '../../../../mirror/threads/longest-rising.ts'
import type { Role } from '../../../../model/message.ts'
import type { ModelEntry } from './model-messages.ts'
import { decodeEntry, type DecodedEntry, keysOf } from './model-parts.ts'
import type { DecodedItem } from './read-turns.ts'

export interface TurnMatch {
  /** This many of the items come before everything in the list. */
  readonly before: number
  /** When an entry of the list was sent, by its index; epoch milliseconds. */
  readonly times: ReadonlyMap<number, number>
}

/**
 * Finds the messages of a list among the items of the turns, by text, thinking and ids of calls. If the same key occurs
 * several times, the last occurrences are paired, because a list that lost messages lost the oldest. Pairs that cross
 * others are dropped.
 * @param hasSummary whether the list is known to have lost messages
 */
export function matchTurns(list: readonly ModelEntry[], items: readonly DecodedItem[], hasSummary: boolean): TurnMatch {
  const pieces = list.flatMap(({ message }, at) => piecesOf(decodeEntry(message), at))
  const pairs = longestRising(pairUp(pieces, items))
  const times = new Map<number, number>()
  for (const { piece, item } of pairs) {
    const at = pieces[piece]?.at
    const atMs = items[item]?.entry?.atMs ?? null
    if (at !== undefined && atMs !== null) times.set(at, Math.min(atMs, times.get(at) ?? atMs))
  }
  const [first] = pairs
  if (first === undefined && !hasSummary) return { before: 0, times }
  const unpaired = pieces.slice(0, first?.piece ?? pieces.length)
  return { before: stepBack(first?.item ?? items.length, unpaired, items), times }
}

interface ListPiece {
  /** Index of its entry. */
  readonly at: number
  /** Null if it could not be read. */
  readonly role: Role | null
  readonly key: string | null
}

function piecesOf(decoded: DecodedEntry, at: number): ListPiece[] {
  if (decoded.isGap) return [{ at, role: null, key: null }]
  return decoded.isSimulated ? [] : keysOf(decoded).map((key) => ({ at, role: decoded.role, key }))
}

/** In the order of the list. */
function pairUp(pieces: readonly ListPiece[], items: readonly DecodedItem[]): Pair[] {
  const wanted = new Set(pieces.flatMap(({ key }) => key ?? []))
  const places = new Map<string, number[]>()
  for (const [item, { keys }] of items.entries()) {
    const key = keys.find((each) => wanted.has(each))
    if (key === undefined) continue
    const known = places.get(key)
    if (known === undefined) places.set(key, [item])
    else known.push(item)
  }
  const pairs: Pair[] = []
  for (let piece = pieces.length - 1; piece >= 0; piece -= 1) {
    const item = places.get(pieces[piece]?.key ?? '')?.pop()
    if (item !== undefined) pairs.push({ piece, item })
  }
  return pairs.reverse()
}

/** Unpaired entries at the head of the list may be the preceding items in another form, which must not appear twice. */
function stepBack(from: number, unpaired: readonly ListPiece[], items: readonly DecodedItem[]): number {
  let before = from
  for (const { role } of unpaired.toReversed()) {
    const item = items[before - 1]
    if (item === undefined) break
    if (role === null || item.role === null || item.role === role) before -= 1
  }
  return before
}
