import * as held from '../../../mirror/sources/sources.ts'
import * as store from './read.ts'
import { type OpenFile, tryRead } from '../../open-safely/cursor-file.ts'
import type { Turn } from '../../source.ts'
import { chatKey, splitKey } from './read.ts'
import type { Mirror } from '../../../mirror/open.ts'
import type { ChatId } from '../../../model/ids.ts'
import type { Again } from '../../../model/pass.ts'

/** For how many chats keys are listed while the store is open once. */
export const CHATS_PER_READ = 16
/** Decides which missing rows are gone. It gets all rows that one look at the store misses. */
export type Verdict = (missing: readonly held.HeldRow[]) => (row: held.HeldRow) => boolean

/**
 * Gives changed chats in groups that are read together, in the given order. The store is opened once for several chats.
 * @param rowsMax how many changed rows a group has, about
 */
export function* inGroups(
  compared: Compared,
  chats: readonly DirtyChat[],
  verdict: Verdict,
  rowsMax: () => number,
): Generator<readonly ChatDiff[], void> {
  let group: ChatDiff[] = []
  let rows = 0
  for (let at = 0; at < chats.length; at += CHATS_PER_READ) {
    for (const diff of diffChats(compared, chats.slice(at, at + CHATS_PER_READ), verdict)) {
      group.push(diff)
      rows += diff.changed.length + 1
      if (rows < rowsMax()) continue
      yield group
      group = []
      rows = 0
    }
  }
  if (group.length > 0) yield group
}

/** What must be read of a chat, and what is gone. */
export type ChatDiff = ReturnType<typeof diffChats>[number]

/** The store is opened once for all of these chats. */
export function diffChats(compared: Compared, chats: readonly DirtyChat[], verdict: Verdict) {
  const listed = compared.file.read((db) => chats.map(({ chatId }) => store.listChat(db, chatId)))
  const differences = chats.map((chat, index) => diffChat(compared, chat, listed[index] ?? []))
  const isGone = verdict(differences.flatMap(({ missing }) => missing))
  return differences.map(({ missing, ...difference }) => ({
    ...difference,
    goneKeys: missing.filter(isGone).map(({ key }) => key),
    /** Rows that are missing but still count as held. */
    missedKeys: missing.filter((row) => !isGone(row)).map(({ key }) => key),
  }))
}

function diffChat({ mirror, num }: Compared, { chatId, suspects }: DirtyChat, listed: readonly store.RowRef[]) {
  // The key range of one chat also contains keys of any chat whose id continues after a colon.
  const isOfChat = store.ofChat(chatId)
  const refs = listed.filter((ref) => isOfChat(ref.key))
  const { from, to } = store.messageRange(chatId)
  const own = held.findHeldRow(mirror, num, chatKey(chatId))
  const messages = held.listHeldRows(mirror, num, from, to).filter((row) => isOfChat(row.key))
  const rows = own === undefined ? messages : [own, ...messages]
  const known = new Map(rows.map((row) => [row.key, row.rowid]))
  const present = new Set(refs.map((ref) => ref.key))
  return {
    chatId,
    /** Every row of the chat in the store. */
    refs,
    changed: refs.filter((ref) => suspects.has(ref.key) || known.get(ref.key) !== ref.rowid),
    missing: rows.filter(({ key }) => !present.has(key)),
  }
}

/** A store, and the mirror's copy of it. */
export interface Compared {
  readonly file: OpenFile
  readonly mirror: Mirror
  readonly num: number
}

export interface DirtyChat {
  readonly chatId: ChatId
  /** Rows whose value must be read although key and rowid are unchanged. */
  readonly suspects: ReadonlySet<string>
}

/** Chats with changes. */
export class DirtyChats {
  readonly #chats = new Map<ChatId, { newestRowid: number; suspects: Set<string> }>()
  /** How many rows were added. */
  rows = 0

  add(ref: store.RowRef, isSuspect = false): void {
    const chatId = splitKey(ref.key)?.chatId
    if (chatId === undefined) return
    let chat = this.#chats.get(chatId)
    if (chat === undefined) this.#chats.set(chatId, (chat = { newestRowid: 0, suspects: new Set() }))
    this.rows += 1
    chat.newestRowid = Math.max(chat.newestRowid, ref.rowid)
    if (isSuspect) chat.suspects.add(ref.key)
  }

  /** The chat written to last comes first: rowids grow with every write. */
  newestFirst(): DirtyChat[] {
    return [...this.#chats]
      .sort(([, a], [, b]) => b.newestRowid - a.newestRowid)
      .map(([chatId, { suspects }]) => ({ chatId, suspects }))
  }
}

export interface Found {
  readonly dirty: DirtyChats
  /** The newest chat row seen; it becomes the watermark once everything dirty is read. */
  readonly top: store.RowRef | null
  /** Rows that were already read have changed in a way that needs a comparison of all keys. */
  readonly isAlarmed: boolean
}

/** This many of the last rows are checked in every pass for values updated in place. */
const TAIL_ROWS = 100
/** If there are more new rows, walking the keys, newest chat first, is better for the user. */
const NEW_ROWS_MAX = 20_000

/**
 * Finds what is new above the watermark. The canary is the row at the watermark: as long as it is unchanged, no rowid
 * up to it was reused, so that every row inserted since is above it. A rewritten canary has a new rowid and leaves its
 * old one empty. Values updated in place show in the sizes of the last rows, and of the own rows of today's chats.
 */
export function findNew({ file, mirror, num }: Compared, position: held.HeldPosition, nowMs: number): Found {
  const dirty = new DirtyChats()
  const watermark = position.watermark ?? 0
  const today = listToday(mirror, num, nowMs)
  const seen = file.read((db) => ({
    isCanaryWell: tryRead(() => store.isCanaryWell(db, watermark, position.watermarkKey))?.value ?? true,
    above: store.listAbove(db, watermark, NEW_ROWS_MAX),
    tail: store.listTail(db, watermark, TAIL_ROWS),
    today: today.flatMap((chatId) => tryRead(() => store.findByKey(db, chatKey(chatId)))?.value ?? []),
  }))
  // A rowid that is too large for JavaScript cannot show a rewrite: such a row is read every time.
  for (const ref of seen.above) dirty.add(ref, !store.isExact(ref))
  for (const ref of [...seen.tail, ...seen.today]) {
    const known = held.findHeldRow(mirror, num, ref.key)
    if (known?.rowid !== ref.rowid || known.octets !== ref.octets) dirty.add(ref, true)
  }
  const top = seen.above.at(-1) ?? seen.tail[0] ?? null
  return { dirty, top, isAlarmed: !seen.isCanaryWell || seen.above.length === NEW_ROWS_MAX }
}

/** Keys are read from the index, several hundred per millisecond if it is in memory. */
const KEYS_PER_MS = 200

/**
 * Compares every key of the store with the mirror, a page of the index per step; values are not read. In a large store
 * this takes seconds. Missing rows are not added to `dirty`: the caller decides whether they are gone.
 * @returns also `backKeys`: rows that were missing before and are present again
 */
export async function findByKeys({ file, mirror, num }: Compared, turn: Turn) {
  const dirty = new DirtyChats()
  const badKeys: string[] = []
  const missing: held.HeldRow[] = []
  const backKeys: string[] = []
  let top: store.RowRef | null = null
  for (const range of store.families) {
    let after: Buffer | null = Buffer.from(range.from)
    let afterKey = range.from
    while (after !== null) {
      const from: Buffer = after
      const page = file.read((db) => store.listKeyPage(db, range, from, file.readMsMax * KEYS_PER_MS))
      const lastKey = page.next === null ? range.to : (page.refs.at(-1)?.key ?? range.to)
      const known = new Map(held.listHeldRows(mirror, num, afterKey, lastKey).map((row) => [row.key, row]))
      for (const ref of page.refs) {
        if (splitKey(ref.key) === null) badKeys.push(`rowid ${ref.rowid}`)
        else if (top === null || ref.rowid > top.rowid) top = ref
        const row = known.get(ref.key)
        if (row?.rowid !== ref.rowid) dirty.add(ref)
        if (typeof row?.missedAtMs === 'number') backKeys.push(ref.key)
        known.delete(ref.key)
      }
      missing.push(...known.values())
      after = page.next
      afterKey = lastKey
      await turn()
    }
  }
  return { dirty, top, isAlarmed: false, badKeys, missing, backKeys }
}

const TODAY_CHATS_MAX = 50
const DAY_MS = 86_400_000
/** At most this much is read, starting with the chats active last. */
const TODAY_OCTETS_MAX = 32 * 1024 * 1024

/** The chats that the user works in, the last active first. */
const listToday = (mirror: Mirror, num: number, nowMs: number): ChatId[] =>
  held.listRecentChats(mirror, num, nowMs - DAY_MS, TODAY_CHATS_MAX)

/** Compares the values of the chats active within a day, in which values updated in place matter most. */
export async function compareToday(compared: Compared, nowMs: number, turn: Turn): Promise<DirtyChats> {
  const dirty = new DirtyChats()
  let octets = 0
  for (const chatId of listToday(compared.mirror, compared.num, nowMs)) {
    if (octets > TODAY_OCTETS_MAX) break
    const refs = compared.file.read((db) => store.listChat(db, chatId))
    octets += await compareValues(compared, refs, dirty, turn)
  }
  return dirty
}

/**
 * Reads these rows page by page and adds those to `dirty` whose size or checksum differs from the mirror.
 * @returns how many bytes were read
 */
async function compareValues(
  { file, mirror, num }: Compared,
  refs: readonly store.RowRef[],
  dirty: DirtyChats,
  turn: Turn,
): Promise<number> {
  let octets = 0
  for (let rest = refs; rest.length > 0;) {
    const from = rest
    const page = file.read((db) => store.readPage(db, from, file.readMsMax))
    for (const row of page.rows) {
      const known = held.findHeldRow(mirror, num, row.key)
      if (known?.octets !== row.octets || known.checksum !== row.checksum) dirty.add(row, true)
    }
    // The mirror keeps what it read of a row before; the row is added so that its unreadability is recorded.
    for (const ref of page.unreadable)
      if (typeof held.findHeldRow(mirror, num, ref.key)?.checksum === 'number') dirty.add(ref, true)
    rest = rest.slice(page.taken)
    octets += page.bytesRead
    await turn({ bytesRead: page.bytesRead, longestReadMs: page.elapsedMs })
  }
  return octets
}

/** One slice of this size every `SLICE_EVERY_MS` is 20 MB per second. */
const SLICE_OCTETS = 8 * 1024 * 1024
const SLICE_EVERY_MS = 400
/** Small, so that a slice can stop early. */
const ROWS_PER_READ = 250
/** A store that keeps changing rests between two comparisons: a small one shortly, others ten times as long as one takes. */
const REST_MS = 10_000
const SMALL_OCTETS = 2 * SLICE_OCTETS
const LONG_REST_MS = 600_000
const REST_FACTOR = 10

/** Every value was read or compared since the file was in this state. */
export const endedSweep = (signature: string, nowMs: number): held.Sweep => ({
  verifiedSignature: signature,
  signature: null,
  afterRowid: 0,
  startedAtMs: nowMs,
  endedAtMs: nowMs,
})

/**
 * The next slice of a comparison of every value with the mirror, in order of rowid. Differences are added to `dirty`.
 * Nothing cheaper can prove equality, because a value updated in place leaves no other trace.
 * @returns the new position of the comparison, to be saved after the differences are written
 */
export async function compareSlice(
  compared: Compared,
  before: held.Sweep,
  { nowMs, isAsked }: { readonly nowMs: number; readonly isAsked: boolean },
  dirty: DirtyChats,
  turn: Turn,
): Promise<held.Sweep> {
  const { file } = compared
  const sweep = { ...before, endedAtMs: nowMs }
  // A copy in memory has already been read.
  const octetsMax = file.bytesRead > 0 ? Infinity : SLICE_OCTETS
  let after = sweep.afterRowid
  for (let octets = 0; octets < octetsMax;) {
    const from = after
    const refs = file.read((db) => store.listAbove(db, from, ROWS_PER_READ))
    octets += await compareValues(compared, refs, dirty, turn)
    const last = refs.at(-1)
    // Rowids too large for a JavaScript number all look the same and are the last ones.
    if (last === undefined || !store.isExact(last)) {
      // Verified only if the file is the same as when the comparison began.
      const verifiedSignature = sweep.signature === file.signature ? file.signature : sweep.verifiedSignature
      return { ...sweep, verifiedSignature, signature: null, afterRowid: 0 }
    }
    after = last.rowid
    // The rest can wait. If Cursor quit while we have the file open, its backup would be stale.
    if (!isAsked && file.isTouched()) break
  }
  return { ...sweep, afterRowid: after }
}

/**
 * How long the next comparison of all values has to wait. If the clock was set back, one full rest and no longer.
 * @param octets the size of the store
 */
export function restLeftMs({ endedAtMs }: held.Sweep, octets: number, nowMs: number): number {
  const tookMs = (octets / SLICE_OCTETS) * SLICE_EVERY_MS
  const restMs = octets <= SMALL_OCTETS ? REST_MS : Math.max(LONG_REST_MS, tookMs * REST_FACTOR)
  return Math.min(restMs, (endedAtMs ?? 0) + restMs - nowMs)
}

/** When to continue comparing; empty if the file is the same as when all values were found equal. */
export function compareAgain(sweep: held.Sweep, signature: string | null, octets: number, nowMs: number): Again[] {
  if (sweep.signature !== null) return [{ depth: 'values', inMs: SLICE_EVERY_MS }]
  if (signature === null || signature === sweep.verifiedSignature) return []
  return [{ depth: 'values', inMs: Math.max(REST_MS, restLeftMs(sweep, octets, nowMs)) }]
}
