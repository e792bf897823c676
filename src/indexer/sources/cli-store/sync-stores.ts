import { readingStep, type PassRequest, type PassStep } from '../../source.ts'
import type { Piece, WholeContent } from '../../open-safely/whole-store.ts'
import { writeWhole } from '../../open-safely/write-whole.ts'
import { listLiveMessages } from '../../../mirror/write/messages/messages.ts'
import type { Mirror } from '../../../mirror/open.ts'
import * as held from '../../../mirror/sources/source-state.ts'
import { groupStores, type Listing, type StoreGroup } from './list-stores.ts'
import { piecesOf, storeKeyOf, type ListHeld, type StoreResult } from './pieces.ts'
import { readStore } from './read-store.ts'

/** Sorts after every key. */
const LAST_KEY = '\u{10ffff}'
/** Chats are collected in memory until they add up to this many bytes. */
const PORTION_OCTETS_MAX = 4 * 1024 * 1024

interface Whole {
  readonly mirror: Mirror
  readonly source: held.SourceName
  readonly request: PassRequest
  readonly listing: Listing
}

/**
 * Brings the mirror to the content of a folder's stores, a few stores per portion. A store that is unchanged since the
 * mirror read it is not opened, unless every value is to be compared.
 * @param whole the signature of its listing is saved only after everything was read
 * @returns how many chats could not be read at the moment
 */
export function* syncStores(whole: Whole): Generator<PassStep, number> {
  const { mirror, source, request, listing } = whole
  const stamps = new Map(listHeld(whole).map(({ key, rowid }) => [key, rowid]))
  const isTouched = ({ stores, stamp }: StoreGroup): boolean => stores.some(({ key }) => stamps.get(key) !== stamp)
  const groups = groupStores(listing.stores)
  const touched = request.depth === 'full' ? groups : groups.filter(isTouched)
  const listLive: ListHeld = (chatId) => listLiveMessages(mirror, chatId, held.sourceNum(mirror, source))
  let portion: Portion = emptyPortion
  let done = 0
  let busy = 0
  for (const group of touched) {
    const results = yield* readGroup(group)
    if (results === null) busy += 1
    else portion = extended(portion, group, results, listLive)
    if (portion.octets < PORTION_OCTETS_MAX) continue
    yield* withTotals(writeWhole(mirror, source, portionContent(whole, portion), request), done, touched.length)
    done += portion.keys.size
    portion = emptyPortion
  }
  const last = { ...lastContent(whole, portion), signature: busy === 0 ? listing.signature : null }
  yield* withTotals(writeWhole(mirror, source, last, request), done, touched.length)
  return busy
}

const listHeld = ({ mirror, source }: Whole): readonly held.HeldRow[] =>
  held.listHeldRows(mirror, held.sourceNum(mirror, source), '', LAST_KEY)

interface Portion {
  readonly pieces: readonly Piece[]
  /** Keys of the stores in this portion. */
  readonly keys: ReadonlySet<string>
  readonly octets: number
}

const emptyPortion: Portion = { pieces: [], keys: new Set(), octets: 0 }

function extended(
  { pieces, keys, octets }: Portion,
  group: StoreGroup,
  results: readonly StoreResult[],
  listLive: ListHeld,
): Portion {
  const more = piecesOf(group, results, listLive)
  return {
    pieces: [...pieces, ...more],
    keys: new Set([...keys, ...group.stores.map(({ key }) => key)]),
    octets: octets + more.reduce((sum, piece) => sum + piece.octets, 0),
  }
}

/**
 * Reads the stores of one chat.
 * @returns null if one of them cannot be read at the moment
 */
function* readGroup({ stores }: StoreGroup): Generator<PassStep, readonly StoreResult[] | null> {
  const results: StoreResult[] = []
  for (const store of stores) {
    const reading = readStore(store)
    const { bytesRead, longestReadMs } = reading
    yield { ...readingStep, bytesRead, longestReadMs }
    if (reading.kind === 'busy') return null
    results.push({ store, reading })
  }
  return results
}

/** Everything outside this portion is kept. Deletions come with the last portion, when all stores are known. */
function portionContent(whole: Whole, { pieces, keys }: Portion): WholeContent {
  const { identity } = whole.listing
  const isOfPortion = (key: string): boolean => keys.has(storeKeyOf(key, (store) => keys.has(store)))
  // Queried each time, because an earlier portion may have written some.
  const keptKeys = new Set(listHeld(whole).flatMap(({ key }) => (isOfPortion(key) ? [] : key)))
  return { pieces, keptKeys, workspaces: [], identity, signature: null, bytesRead: 0, longestReadMs: 0 }
}

function lastContent(whole: Whole, portion: Portion): WholeContent {
  const present = new Set(whole.listing.stores.map(({ key }) => key))
  const isPresent = (key: string): boolean => present.has(storeKeyOf(key, (store) => present.has(store)))
  const { keptKeys = new Set(), ...rest } = portionContent(whole, portion)
  return { ...rest, keptKeys: new Set([...keptKeys].filter(isPresent)) }
}

function* withTotals(steps: Generator<PassStep, void>, before: number, total: number): Generator<PassStep, void> {
  for (const step of steps) yield { ...step, done: Math.min(total, before + step.done), total }
}
