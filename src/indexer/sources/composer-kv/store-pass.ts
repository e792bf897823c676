import * as detect from './find-changes.ts'
import * as held from '../../../mirror/sources/sources.ts'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { type OpenFile, fileSignature } from '../../open-safely/cursor-file.ts'
import {
  type PassRequest,
  type PassStep,
  type Source,
  URGENT_MAX,
  judgeMissing,
  massRule,
  ofDatabase,
  skipped,
  whileOpen,
} from '../../source.ts'
import { type Portion, readChats } from './read-chats.ts'
import { lookAtStore, BEFORE_ALL, type RowRef, countRows, emptyStore, hasTable, listAbove, listTail } from './read.ts'
import { inBulk, type Mirror } from '../../../mirror/open.ts'
import { type Change, type Position, emptyChange } from '../../../model/change.ts'
import { writeChange } from '../../../mirror/write/write.ts'
import type { Again } from '../../../model/pass.ts'

/**
 * The global key-value store of one Cursor user folder.
 * @param userDir Cursor's `User` folder
 */
export function composerKvSource(userDir: string): Source {
  const path = join(userDir, 'globalStorage', 'state.vscdb')
  return {
    ...ofDatabase({ kind: 'composer-kv', decoder: 5, path, rank: 0, isAlwaysWarm: true }),
    async pass(mirror, num, request) {
      const signature = fileSignature(path)
      const octets = statSync(path, { throwIfNoEntry: false })?.size ?? 0
      if (skipped(mirror, num, request, signature) !== null) {
        return {
          isRead: false,
          again: detect.compareAgain(held.readSweep(mirror, num), signature, octets, request.now()),
        }
      }
      return whileOpen(path, async (file) => {
        // A store whose table does not exist yet, or was dropped, is treated as an empty table.
        const store = file.read(hasTable) ? file : emptyStore(file)
        // A first pass takes a while. The store must not be reported as missing in the meantime.
        if (held.readPosition(mirror, num).watermark === null)
          held.saveSourceState(mirror, { num, state: 'ok', detail: null, syncedAtMs: null })
        const again = await new StorePass({ file: store, mirror, num }, octets, request).run()
        await request.turn({ longestReadMs: file.longestReadMs() })
        return { isRead: true, again }
      })
    },
    look: () => lookAtStore(path),
  }
}

/** Few rows in one group while each message is indexed at once, then more. */
const GROUP_ROWS_MAX = 400
const LARGE_GROUP_ROWS_MAX = 1000
/** The first group of a new store is small, so that the index has something to do early. */
const FIRST_GROUP_ROWS_MAX = 50
/** During a long pass, newly written rows are read this often. */
const READ_NEW_EVERY_MS = 1000
/**
 * In a store that was never read, the chats of this many newest rows are read first, because a person looks for those
 * first.
 */
const FIRST_ROWS = 2000
/** After a change, rows are counted and the chats in use compared. */
const compareSoon: Again = { depth: 'values', inMs: 15_000 }

/** One pass over a store, from start to end. */
class StorePass implements detect.Compared {
  readonly file: OpenFile
  readonly mirror: Mirror
  readonly num: number
  readonly #request: PassRequest
  /** The size of the store. */
  readonly #octets: number
  /** Messages written so far. */
  #written = 0
  /** Rows of the current list of changes. Null before all of them are known. */
  #progress: Pick<PassStep, 'done' | 'total'> | null = null
  /** True if a cheap look misses more rows than it may call gone: a comparison of all keys is needed. */
  #isInDoubt = false

  constructor({ file, mirror, num }: detect.Compared, octets: number, request: PassRequest) {
    this.file = file
    this.mirror = mirror
    this.num = num
    this.#request = request
    this.#octets = octets
  }

  /** @returns when to pass again */
  async run(): Promise<readonly Again[]> {
    const { turn, now, isAsked = false } = this.#request
    const before = held.readPosition(this.mirror, this.num)
    const sweep = held.readSweep(this.mirror, this.num)
    const isFirst = before.watermark === null
    const isSwapped = before.identity !== null && before.identity !== this.file.identity
    const depth = isSwapped ? 'values' : this.#request.depth
    const isDue =
      sweep.signature === null &&
      sweep.verifiedSignature !== this.file.signature &&
      detect.restLeftMs(sweep, this.#octets, now()) <= 0
    /** Whether a comparison of all values begins, or goes on. */
    const begins = depth === 'values' && (isSwapped || isAsked || isDue)
    const goesOn = depth === 'values' && !begins && sweep.signature !== null
    if (this.file.bytesRead > 0) await turn({ bytesRead: this.file.bytesRead })

    // A comparison of all keys includes this one.
    let found = isFirst || isSwapped || isAsked ? null : detect.findNew(this, before, now())
    const isByKeys = found === null || found.isAlarmed || depth === 'keys' || begins
    // After a mass loss the rows may be back at any moment.
    const isCounted = isByKeys || (depth === 'values' && !goesOn) || held.countMissed(this.mirror, this.num) > 0
    const counts = isCounted ? this.file.read(countRows) : null
    if (counts !== null) held.saveCounts(this.mirror, { num: this.num, ...counts, nowMs: now() })
    // Rows left by an interrupted pass, or in a salvaged mirror, may exist only in the mirror by now.
    const isNew = isFirst && held.countHeldRows(this.mirror, this.num) === 0
    if (isNew) await inBulk(this.mirror, () => this.#readNewest())
    if (found !== null) await this.#readDirty(found.dirty, found.top)
    const isCountOdd = counts !== null && counts.chatRows !== this.#countHeld()
    if (found === null || isByKeys || this.#isInDoubt || isCountOdd) {
      found = isNew ? await inBulk(this.mirror, () => this.#compareKeys()) : await this.#compareKeys()
    }
    this.#write({ position: this.#positionAt(found.top, before) })
    // A first pass that goes on after a kill compared only keys of what it had read before.
    if (isNew) held.saveSweep(this.mirror, { source: this.num, ...detect.endedSweep(this.file.signature, now()) })
    else await this.#compareSome(found.top, { isToday: depth !== 'tail' && !goesOn && !isAsked, begins, goesOn })

    const isChanged = !isFirst && before.signature !== this.file.signature
    return [
      ...(isChanged && depth === 'tail' ? [compareSoon] : []),
      ...detect.compareAgain(held.readSweep(this.mirror, this.num), this.file.signature, this.#octets, now()),
    ]
  }

  /** How many rows of chats the store should have. */
  #countHeld(): number {
    const [mirror, num] = [this.mirror, this.num]
    return held.countHeldRows(mirror, num) - held.countMissed(mirror, num) + held.countBadKeys(mirror, num)
  }

  /** Where the next pass continues: everything dirty up to the newest row seen has been read. */
  #positionAt(top: RowRef | null, before: held.HeldPosition): Position {
    const { identity, signature } = this.file
    // It was deleted before it could be read, and a position may only be on a row in the mirror.
    if (top !== null && !held.isRowKnown(this.mirror, { source: this.num, key: top.key })) {
      return { identity, signature, watermark: before.watermark ?? 0, watermarkKey: before.watermarkKey }
    }
    return { identity, signature, watermark: top?.rowid ?? before.watermark ?? 0, watermarkKey: top?.key ?? null }
  }

  /** Runs before all keys are listed, because that takes longer the larger the store is. */
  async #readNewest(): Promise<void> {
    const dirty = new detect.DirtyChats()
    for (const ref of this.file.read((db) => listTail(db, Number.MAX_SAFE_INTEGER, FIRST_ROWS))) dirty.add(ref)
    const isGone = this.#goneIfFew(false)
    const rowsMax = (): number => (this.#written === 0 ? FIRST_GROUP_ROWS_MAX : GROUP_ROWS_MAX)
    for (const group of detect.inGroups(this, dirty.newestFirst(), isGone, rowsMax)) {
      await this.#readGroup(group)
      if (!this.#isUrgent) break
    }
  }

  async #compareKeys(): Promise<detect.Found> {
    const { turn, now, isAsked = false } = this.#request
    const found = await detect.findByKeys(this, turn)
    held.replaceBadKeys(this.mirror, this.num, found.badKeys, now())
    const gone = judgeMissing(this.mirror, this.num, found, this.#request)
    for (const row of found.missing) if (gone.has(row.key)) found.dirty.add(row)
    // What vanished since then is left to the next comparison: it may be very much, and only a full count tells.
    await this.#readDirty(found.dirty, found.top, () => (row) => isAsked || gone.has(row.key))
    return found
  }

  /** Compares the values of today's chats, and the next slice of all values. One that a person waits for, to the end. */
  async #compareSome(
    top: RowRef | null,
    { isToday, begins, goesOn }: { readonly isToday: boolean; readonly begins: boolean; readonly goesOn: boolean },
  ): Promise<void> {
    const { turn, now, isAsked = false } = this.#request
    if (isToday) await this.#readDirty(await detect.compareToday(this, now(), turn), top)
    let sweep = held.readSweep(this.mirror, this.num)
    if (begins)
      sweep = {
        ...sweep,
        signature: this.file.signature,
        afterRowid: BEFORE_ALL,
        startedAtMs: now(),
        endedAtMs: now(),
      }
    for (let isMore = begins || goesOn; isMore; isMore = isAsked && sweep.signature !== null) {
      const dirty = new detect.DirtyChats()
      sweep = await detect.compareSlice(this, sweep, { nowMs: now(), isAsked }, dirty, turn)
      await this.#readDirty(dirty, top)
      held.saveSweep(this.mirror, { source: this.num, ...sweep })
    }
  }

  get #isUrgent(): boolean {
    return this.#written < URGENT_MAX
  }

  /**
   * Before all keys were compared: a few rows are gone if there is only one look at the store. If there are more, the
   * total loss is unknown.
   */
  #goneIfFew(isOnlyLook: boolean): detect.Verdict {
    const rowsMax = (this.#request.mass ?? massRule).rows
    return (missing) => {
      const fresh = missing.filter(({ missedAtMs }) => missedAtMs === null).length
      const isInDoubt = fresh > 0 && (!isOnlyLook || fresh > rowsMax)
      this.#isInDoubt ||= isInDoubt
      return ({ missedAtMs }) => !isInDoubt && missedAtMs === null
    }
  }

  /** Reads the changed chats, newest first, in groups; each group is one or a few transactions of the mirror. */
  async #readDirty(dirty: detect.DirtyChats, top: RowRef | null, verdict?: detect.Verdict): Promise<void> {
    const { now } = this.#request
    const chats = dirty.newestFirst()
    const isGone = verdict ?? this.#goneIfFew(chats.length <= detect.CHATS_PER_READ)
    const rowsMax = (): number => (this.#isUrgent ? GROUP_ROWS_MAX : LARGE_GROUP_ROWS_MAX)
    this.#progress = { done: 0, total: dirty.rows }
    let newReadAtMs = now()
    let seenRowid = top?.rowid ?? 0
    for (const group of detect.inGroups(this, chats, isGone, rowsMax)) {
      await this.#readGroup(group)
      if (now() - newReadAtMs < READ_NEW_EVERY_MS) continue
      newReadAtMs = now()
      seenRowid = await this.#readNew(seenRowid)
    }
  }

  /** A first pass over a large store takes minutes. What the user writes in the meantime must not wait for its end. */
  async #readNew(seenRowid: number): Promise<number> {
    const above = this.file.read((db) => listAbove(db, seenRowid, GROUP_ROWS_MAX))
    const dirty = new detect.DirtyChats()
    for (const ref of above) dirty.add(ref)
    const diffs = detect.diffChats(this, dirty.newestFirst(), this.#goneIfFew(false))
    if (diffs.length > 0) await this.#readGroup(diffs)
    return above.at(-1)?.rowid ?? seenRowid
  }

  /** Reads chats with changes, and writes them in one or a few transactions of the mirror. */
  async #readGroup(diffs: readonly detect.ChatDiff[]): Promise<void> {
    for (const portion of readChats(this, diffs)) await this.#writePortion(portion)
  }

  async #writePortion({ bytesRead, longestReadMs, rowsDone, ...portion }: Portion): Promise<void> {
    const outcome = this.#write({ ...portion, isUrgent: this.#isUrgent })
    this.#written += outcome?.messages.length ?? 0
    if (this.#progress !== null) {
      const done = this.#progress.done + rowsDone
      this.#progress = { done, total: Math.max(this.#progress.total, done) }
    }
    await this.#request.turn({ ...this.#progress, bytesRead, longestReadMs, outcome })
  }

  #write(change: Partial<Change>): PassStep['outcome'] {
    return writeChange(this.mirror, { ...emptyChange, ...change, source: this.num, nowMs: this.#request.now() })
  }
}
