import type { HeldPosition } from '../../../../mirror/sources/source-state.ts'
import * as held from '../../../../mirror/sources/source-state.ts'
import type { Mirror } from '../../../../mirror/open.ts'
import { listUnplaced } from '../../../../mirror/threads/place-part.ts'
import type { OpenFile } from '../../../open-safely/cursor-file.ts'
import type { Comparison } from '../../../mass-loss.ts'
import { tryRead } from '../../../open-safely/try-read.ts'
import { isCanaryWell } from './canary.ts'
import { compareAbove, type CompareStep } from './compare-values.ts'
import { DirtyChats } from '../read/dirty-chats.ts'
import { listRecent } from './recent-chats.ts'
import { chatKey, families, splitKey, type KeyRange } from '../keys.ts'
import * as store from '../read/read.ts'

/** Keys come out of the index, several hundred in a millisecond where it is in memory. */
const KEYS_A_MS = 200

/** The last rows looked at on every pass for values rewritten in place. */
const TAIL_ROWS = 100
/** More new rows than this and walking the keys, newest chat first, serves the user better. */
const NEW_ROWS_MAX = 20_000

export interface Found {
  readonly dirty: DirtyChats
  /** The newest chat row seen; the watermark once everything dirty is read. */
  readonly top: store.RowRef | null
  /** Something happened to rows already read that a cheap look cannot follow. */
  readonly isAlarmed: boolean
}

export interface Look {
  readonly nowMs: number
  /** Looks at the size of every row of the chats active within a day, and not only at that of their own rows. */
  readonly isThorough: boolean
}

/**
 * What is new above the watermark. The canary is the row at the watermark: while it stands, no rowid up to it was used
 * twice, so that every row inserted since lies above. A canary that was itself rewritten has a new rowid and no other
 * row in its place. Values rewritten in place show in the sizes of the last rows and of the chats active within a day.
 */
export function findNew(
  file: OpenFile,
  mirror: Mirror,
  source: number,
  position: HeldPosition,
  { nowMs, isThorough }: Look,
): Found {
  const dirty = new DirtyChats()
  const watermark = position.watermark ?? 0
  const recent = listRecent(mirror, source, nowMs)
  const seen = file.read((db) => ({
    isCanaryWell: tryRead(() => isCanaryWell(db, watermark, position.watermarkKey))?.value ?? true,
    above: store.listAbove(db, watermark, NEW_ROWS_MAX),
    tail: store.listTail(db, watermark, TAIL_ROWS),
    recent: recent.flatMap((chatId) => [
      tryRead(() => store.findByKey(db, chatKey(chatId)))?.value ?? [],
      isThorough ? (tryRead(() => store.listSizes(db, chatId))?.value ?? []) : [],
    ]),
  }))
  // A rowid that JavaScript cannot hold tells nothing of a rewrite: such a row is read every time.
  for (const ref of seen.above) dirty.add(ref, !store.isExact(ref))
  for (const ref of [...seen.tail, ...seen.recent.flat()]) {
    const known = held.findHeldRow(mirror, source, ref.key)
    if (known?.rowid !== ref.rowid || known.octets !== ref.octets) dirty.add(ref, true)
  }
  const top = seen.above.at(-1) ?? seen.tail[0] ?? null
  return { dirty, top, isAlarmed: !seen.isCanaryWell || seen.above.length === NEW_ROWS_MAX }
}

/**
 * Compares every key of the store with what the mirror holds, by pages of the index: values are not touched. What is
 * missing is not dirty yet, for whoever asks decides whether to believe it.
 */
export function findByKeys(
  file: OpenFile,
  mirror: Mirror,
  source: number,
): Found & Comparison & { readonly badKeys: string[] } {
  const dirty = new DirtyChats()
  const badKeys: string[] = []
  const missing: held.HeldRow[] = []
  const backKeys: string[] = []
  let top: store.RowRef | null = null
  for (const chatId of listUnplaced(mirror, source)) dirty.add({ key: chatKey(chatId), rowid: 0 })
  for (const range of families) {
    for (const page of pageBoth(file, mirror, source, range)) {
      for (const ref of page.refs) {
        if (splitKey(ref.key) === null) badKeys.push(`rowid ${ref.rowid}`)
        else if (top === null || ref.rowid > top.rowid) top = ref
        const known = page.known.get(ref.key)
        if (known?.rowid !== ref.rowid) dirty.add(ref)
        if (typeof known?.missedAtMs === 'number') backKeys.push(ref.key)
        page.known.delete(ref.key)
      }
      missing.push(...page.known.values())
    }
  }
  return { dirty, top, isAlarmed: false, badKeys, missing, backKeys }
}

function* pageBoth(
  file: OpenFile,
  mirror: Mirror,
  source: number,
  range: KeyRange,
): Generator<{ refs: readonly store.RowRef[]; known: Map<string, held.HeldRow> }> {
  let after: Buffer | null = Buffer.from(range.from)
  let afterKey = range.from
  while (after !== null) {
    const from: Buffer = after
    const page = file.read((db) => store.listKeyPage(db, range, from, file.readMsMax * KEYS_A_MS))
    const lastKey = page.next === null ? range.to : (page.refs.at(-1)?.key ?? range.to)
    const rows = held.listHeldRows(mirror, source, afterKey, lastKey)
    yield { refs: page.refs, known: new Map(rows.map((row) => [row.key, row])) }
    after = page.next
    afterKey = lastKey
  }
}

/** Compares every value with what the mirror holds, in rowid order; what differs is added to `dirty`. */
export function* sweepValues(
  file: OpenFile,
  mirror: Mirror,
  source: number,
  dirty: DirtyChats,
): Generator<CompareStep, void> {
  for (let after: number | null = 0; after !== null;) {
    const look: { last: number | null } = yield* compareAbove({ file, mirror, num: source }, after, 1000, dirty)
    after = look.last
  }
}
