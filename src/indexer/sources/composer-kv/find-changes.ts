import * as held from '../../../mirror/sources/sources.ts'
import * as store from './read.ts'
import { type OpenFile, openCursorFile, tryRead } from '../../open-safely/cursor-file.ts'
import type { Turn } from '../../source.ts'
import { type ChatDiff, type Known, type Portion, readChats } from './read-chats.ts'
import { chatKey, splitKey } from './read.ts'
import type { Aside, AsideTask } from '../../../mirror/aside.ts'
import type { Mirror } from '../../../mirror/open.ts'
import type { ChatId } from '../../../model/ids.ts'
import type { Again } from '../../../model/pass.ts'

/** For how many chats keys are listed while the store is open once. */
export const CHATS_PER_READ = 16
/** How many groups are read ahead. */
const GROUPS_AHEAD = 5

/** Decides which missing rows are gone. It gets all rows that one look at the store misses. */
export type Verdict = (missing: readonly held.HeldRow[]) => (row: held.HeldRow) => boolean

/** Chats that are read together. */
export interface ReadGroup {
  readonly diffs: readonly ChatDiff[]
  /** Null if this thread has to read them. */
  task: AsideTask<Portion> | null
}

/** Starts to read a group on another thread. @returns null if this thread has to read it */
type Begin = (diffs: readonly ChatDiff[]) => AsideTask<Portion> | null

/** Gives changed chats in groups, in the given order, while the next groups are read ahead. */
export class ChatQueue {
  readonly #groups: Generator<readonly ChatDiff[], void, number>
  readonly #begin: Begin | null
  readonly #waiting: ReadGroup[] = []

  constructor(compared: Compared, chats: readonly DirtyChat[], verdict: Verdict, begin: Begin | null = null) {
    this.#groups = groupsOf(compared, chats, verdict)
    this.#groups.next(0)
    this.#begin = begin
  }

  /** @param rowsMax chats are read together until they have this many changed rows */
  next(rowsMax: number): ReadGroup | null {
    const most = this.#begin === null ? 1 : 1 + GROUPS_AHEAD
    while (this.#waiting.length < most) {
      const diffs = this.#groups.next(rowsMax).value ?? []
      if (diffs.length === 0) break
      this.#waiting.push({ diffs, task: this.#begin?.(diffs) ?? null })
    }
    return this.#waiting.shift() ?? null
  }

  /**
   * This thread reads the waiting groups, because Cursor has written since they were read; or nobody does, if the pass
   * ends early: the other thread would wait for ever.
   */
  drop(): void {
    for (const group of this.#waiting) {
      group.task?.cancel()
      group.task = null
    }
  }
}

/** Each group is as large as its `next` says. The store is opened once for several chats. */
function* groupsOf(
  compared: Compared,
  chats: readonly DirtyChat[],
  verdict: Verdict,
): Generator<readonly ChatDiff[], void, number> {
  let rowsMax = yield []
  let group: ChatDiff[] = []
  let rows = 0
  for (let at = 0; at < chats.length; at += CHATS_PER_READ) {
    for (const diff of diffChats(compared, chats.slice(at, at + CHATS_PER_READ), verdict)) {
      group.push(diff)
      rows += diff.changed.length + 1
      if (rows < rowsMax) continue
      rowsMax = yield group
      group = []
      rows = 0
    }
  }
  yield group
}

/** What must be read of these chats, and what is gone. The store is opened once for all of them. */
export function diffChats(compared: Compared, chats: readonly DirtyChat[], verdict: Verdict): ChatDiff[] {
  const listed = compared.file.read((db) => chats.map(({ chatId }) => store.listChat(db, chatId)))
  const differences = chats.map((chat, index) => diffChat(compared, chat, listed[index] ?? []))
  const isGone = verdict(differences.flatMap(({ missing }) => missing))
  return differences.map(({ missing, ...difference }) => ({
    ...difference,
    goneKeys: missing.filter(isGone).map(({ key }) => key),
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
    refs,
    changed: refs.filter((ref) => suspects.has(ref.key) || known.get(ref.key) !== ref.rowid),
    missing: rows.filter(({ key }) => !present.has(key)),
  }
}

/** Chats that another thread reads and decodes while this one writes. All of their rows are new. */
export interface ReadOrder {
  readonly path: string
  readonly identity: string
  readonly firstId: string
  readonly diffs: readonly ChatDiff[]
}

/** Nothing of a chat whose rows are all new is in the mirror. */
const nothingKnown: Known = { isGoneRow: () => false, roles: () => new Map<never, never>() }

/** The task `read-chats` of the other thread. @throws Error if the file cannot be opened as the writer opened it */
export function* readOrdered({ path, identity, firstId, diffs }: ReadOrder): Generator<Portion, void> {
  const file = openCursorFile(path)
  if (file.kind === 'closed') throw new Error(`${path}: ${file.state}`)
  try {
    if (file.path === null || file.identity !== identity) throw new Error(`${path} was replaced`)
    for (const portion of readChats(file, firstId, diffs, nothingKnown)) {
      yield { ...portion, longestReadMs: Math.max(portion.longestReadMs, file.longestReadMs()) }
    }
  } finally {
    file.close()
  }
}

/** With fewer changed rows, another thread is not worth its start. */
const ROWS_AHEAD_MIN = 2000

/** The other thread, if this pass can use it. It shares no copy of a file. */
export const asideFor = ({ file }: Compared, aside: Aside | undefined, rows: number): Aside | null =>
  file.path === null || rows < ROWS_AHEAD_MIN ? null : (aside ?? null)

/** Returns how the other thread starts to read a group. */
export function beginAside({ file, mirror, num }: Compared, firstId: string, aside: Aside | null): Begin | null {
  const { path, identity } = file
  if (aside === null || path === null) return null
  const isGoneChat = (chatId: ChatId): boolean => held.isGoneRow(mirror, num, chatKey(chatId))
  return (diffs) =>
    diffs.every((diff) => isAllNew(diff) && (holdsOwnRow(diff) || !isGoneChat(diff.chatId)))
      ? aside.start<Portion>('read-chats', { path, identity, firstId, diffs } satisfies ReadOrder)
      : null
}

/** Whether the chat can be read without the mirror. */
const isAllNew = ({ refs, changed, goneKeys, missedKeys }: ChatDiff): boolean =>
  changed.length === refs.length && goneKeys.length + missedKeys.length === 0

const holdsOwnRow = ({ chatId, refs }: ChatDiff): boolean => refs.some(({ key }) => key === chatKey(chatId))

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
