import * as held from '../../../../mirror/sources/source-state.ts'
import type { Mirror } from '../../../../mirror/open.ts'
import { listUnplaced } from '../../../../mirror/write/write-thread.ts'
import type { OpenFile } from '../../../open-safely/cursor-file.ts'
import type { Comparison } from '../../../mass-loss.ts'
import { tryRead } from '../../../open-safely/read-portion.ts'
import { compareAbove, type CompareStep } from './compare-values.ts'
import { DirtyChats } from '../read/dirty-chats.ts'
import { chatKey, families, splitKey, type KeyRange } from '../keys.ts'
import * as store from '../read/read.ts'
import type { ChatId } from '../../../../model/ids.ts'
import type { Position } from '../../../../mirror/write/batch.ts'

/** Keys are read from the index, several hundred per millisecond if it is in memory. */
const KEYS_PER_MS = 200

/** This many of the last rows are checked in every pass for values updated in place. */
const TAIL_ROWS = 100
/** If there are more new rows, walking the keys, newest chat first, is better for the user. */
const NEW_ROWS_MAX = 20_000

export interface Found {
  readonly dirty: DirtyChats
  /** The newest chat row seen; it becomes the watermark once everything dirty is read. */
  readonly top: store.RowRef | null
  /** Rows that were already read have changed in a way that needs a comparison of all keys. */
  readonly isAlarmed: boolean
}

export interface LookOptions {
  readonly nowMs: number
  /** Checks the size of every row of the chats active within a day, and not only of their own rows. */
  readonly isThorough: boolean
}

/**
 * Finds what is new above the watermark. The canary is the row at the watermark: as long as it is unchanged, no rowid
 * up to it was reused, so that every row inserted since is above it. A rewritten canary has a new rowid and leaves its
 * old one empty. Values updated in place show in the sizes of the last rows and of the chats active within a day.
 */
export function findNew(
  file: OpenFile,
  mirror: Mirror,
  source: number,
  position: held.HeldPosition,
  { nowMs, isThorough }: LookOptions,
): Found {
  const dirty = new DirtyChats()
  const watermark = position.watermark ?? 0
  const recent = listRecent(mirror, source, nowMs)
  const seen = file.read((db) => ({
    isCanaryWell: tryRead(() => store.isCanaryWell(db, watermark, position.watermarkKey))?.value ?? true,
    above: store.listAbove(db, watermark, NEW_ROWS_MAX),
    tail: store.listTail(db, watermark, TAIL_ROWS),
    recent: recent.flatMap((chatId) => [
      tryRead(() => store.findByKey(db, chatKey(chatId)))?.value ?? [],
      isThorough ? (tryRead(() => store.listSizes(db, chatId))?.value ?? []) : [],
    ]),
  }))
  // A rowid that is too large for JavaScript cannot show a rewrite: such a row is read every time.
  for (const ref of seen.above) dirty.add(ref, !store.isExact(ref))
  for (const ref of [...seen.tail, ...seen.recent.flat()]) {
    const known = held.findHeldRow(mirror, source, ref.key)
    if (known?.rowid !== ref.rowid || known.octets !== ref.octets) dirty.add(ref, true)
  }
  const top = seen.above.at(-1) ?? seen.tail[0] ?? null
  return { dirty, top, isAlarmed: !seen.isCanaryWell || seen.above.length === NEW_ROWS_MAX }
}

export type FoundByKeys = Found & Comparison & { readonly badKeys: string[] }

/**
 * Compares every key of the store with the mirror, a page of the index per step; values are not read. Missing rows are
 * not added to `dirty`: the caller decides whether they are gone.
 */
export function* findByKeys(file: OpenFile, mirror: Mirror, source: number): Generator<void, FoundByKeys> {
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
      yield
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
    const page = file.read((db) => store.listKeyPage(db, range, from, file.readMsMax * KEYS_PER_MS))
    const lastKey = page.next === null ? range.to : (page.refs.at(-1)?.key ?? range.to)
    const rows = held.listHeldRows(mirror, source, afterKey, lastKey)
    yield { refs: page.refs, known: new Map(rows.map((row) => [row.key, row])) }
    after = page.next
    afterKey = lastKey
  }
}

/** Compares every value with the mirror, in order of rowid, and adds differences to `dirty`. */
export function* sweepValues(
  file: OpenFile,
  mirror: Mirror,
  source: number,
  dirty: DirtyChats,
): Generator<CompareStep, void> {
  for (let after: number | null = 0; after !== null;) {
    const compared: { last: number | null } = yield* compareAbove({ file, mirror, num: source }, after, 1000, dirty)
    after = compared.last
  }
}

const CHATS_MAX = 50
const DAY_MS = 86_400_000

/**
 * The chats that the user works in, the last active first. A nudge checks their sizes, and a `recent` pass compares
 * their values.
 */
export const listRecent = (mirror: Mirror, source: number, nowMs: number): ChatId[] =>
  held.listRecentChats(mirror, source, nowMs - DAY_MS, CHATS_MAX)

/**
 * Where the next pass continues.
 * @param top the newest row seen; everything dirty up to it has been read
 */
export function nextPosition(
  { identity, signature }: Pick<OpenFile, 'identity' | 'signature'>,
  { mirror, num }: { readonly mirror: Mirror; readonly num: number },
  top: store.RowRef | null,
  before: held.HeldPosition,
): Position {
  // It was deleted before it could be read, and a position may only be on a row in the mirror.
  if (top !== null && !held.isRowKnown(mirror, num, top.key)) {
    return { identity, signature, watermark: before.watermark ?? 0, watermarkKey: before.watermarkKey }
  }
  return { identity, signature, watermark: top?.rowid ?? before.watermark ?? 0, watermarkKey: top?.key ?? null }
}
