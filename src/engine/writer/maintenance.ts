import { existsSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { identityAt } from '../../indexer/open-safely/file-identity.ts'
import { bringHome, openWriter, type Mirror } from '../../mirror/open.ts'
import { listSalvages, pendingSalvage, salvage, type SalvageReport } from '../../mirror/salvage/salvage.ts'
import { dropSetAside, finishSettingAside, listSetAside, nextTo, setAside } from '../../mirror/salvage/set-aside.ts'
import { readUnfinished } from '../../mirror/purge/state.ts'
import { endRemoval } from '../../mirror/purge/remove-targets.ts'
import { noteChecked } from '../../mirror/maintenance/check-in-parts.ts'
import { findDamage, hasBrokenBodies, isDamage, listParts, type Damage } from '../../mirror/maintenance/check-pages.ts'
import { leaveCleanMark, takeCleanMark } from '../../mirror/maintenance/clean-mark.ts'
import { mendTerms, rebuildTerms } from '../../mirror/maintenance/rebuild-terms.ts'
import { lastDone, noteDone } from '../../mirror/maintenance/upkeep-times.ts'
import { countWaiting } from '../../mirror/fulltext/backlog.ts'
import type { UpkeepOutcome, UpkeepTask } from './messages.ts'

const TERMS_REBUILT =
  'The full-text tables of the mirror were damaged. They are being rebuilt from its messages. Nothing is lost. Until that is done, searches report how much they cannot see yet.'
const TERMS_MENDED = (rows: number): string => `${rows} full-text rows of the mirror were wrong. They were rebuilt.`

const BARS_LOST = ' Purged chats that Cursor still has may return. Purge them again.'

const count = (value: number): string => value.toLocaleString('en')

/** Sentences about the repair of a damaged mirror. */
export function describeSalvage(path: string, { file, chats, messages, lost, hasLostBars }: SalvageReport): string {
  const unreadable = lost === 0 ? '' : ` ${count(lost)} of its rows could not be read.`
  const bars = hasLostBars === 1 ? BARS_LOST : ''
  return `The mirror was damaged and was replaced by a new one. ${count(messages)} messages of ${count(chats)} chats were saved.${unreadable} The damaged file is ${nextTo(path, file)}.${bars}`
}

/** Everything that reads the mirror. Nothing may read the file while it is replaced. */
export interface Readers {
  shut(): void
  reopen(): void
}

/**
 * The mirror's only writing connection, with checks and repairs. After an unclean end the pages are checked before anything
 * is written. A mirror that is known to be sound gets a mark when it is closed.
 */
export class MirrorMaintenance {
  readonly #path: string
  readonly #now: () => number
  #db: Mirror | null = null
  /** Identity of the open file and its WAL. Null if the system does not report it. */
  #place: string | null = null
  /** True if its pages were checked since the last crash, and nothing has pointed to damage since. */
  #isSound = false

  constructor(path: string, now: () => number) {
    this.#path = path
    this.#now = now
  }

  /**
   * Opens the mirror. If it cannot be opened because of damage, it is set aside and a new one is created. Nothing reads the
   * mirror at that time.
   * @throws UserError `mirror-newer`
   */
  get db(): Mirror {
    if (this.#db === null) {
      this.#db = this.#open()
      this.#place = placeOf(this.#path)
    }
    return this.#db
  }

  /** False if the file or its WAL was moved, removed, replaced or emptied: nobody would find what is written now. */
  get #isInPlace(): boolean {
    const place = placeOf(this.#path)
    return this.#db === null || this.#place === null || place === null || place === this.#place
  }

  /** An error means damage. Until the pages are checked, the mirror does not count as sound. */
  doubt(): void {
    this.#isSound = false
  }

  close(): void {
    if (this.#db === null) return
    const isMarked = this.#isSound && this.#isInPlace
    this.#db.close()
    this.#db = null
    if (isMarked) leaveCleanMark(this.#path)
  }

  /** Names of the damaged mirrors that were set aside. */
  get setAside(): readonly string[] {
    return listSetAside(this.#path)
  }

  /** Removes the mirrors that were set aside and are salvaged. @returns their names */
  dropSetAside(): readonly string[] {
    const files = this.setAside.filter((file) => file !== this.#pending())
    for (const file of files) dropSetAside(this.#path, file)
    return files
  }

  #open(): Mirror {
    finishSettingAside(this.#path)
    const isNew = !existsSync(this.#path)
    this.#isSound = takeCleanMark(this.#path) || isNew
    try {
      return openWriter(this.#path)
    } catch (error) {
      if (!isDamage(error)) throw error
      setAside(this.#path, this.#now())
      this.#isSound = true
      return openWriter(this.#path)
    }
  }

  /** Runs one task, in steps. It can be stopped between two steps. */
  *run(order: UpkeepTask): Generator<void, UpkeepOutcome> {
    try {
      return yield* this.#run(order)
    } catch (error) {
      // The damaged page may be one that this task reads itself, such as the time of the last check.
      if (order.task === 'set-aside' || !isDamage(error)) throw error
      this.#isSound = false
      return this.#outcome('rows', [])
    }
  }

  *#run({ task, suspected }: UpkeepTask): Generator<void, UpkeepOutcome> {
    const news: string[] = []
    if (task === 'set-aside') this.#setAside()
    else if (!this.#isInPlace) return damageOnly('rows')
    if (task === 'check') this.#isSound = false
    if (task === 'look') return damageOnly('none')
    const isSalvaged = yield* this.#salvagePending()
    if (isSalvaged) news.push(...this.#describeSalvages().slice(-1))
    // Before any source is read, so that no part of a purged chat returns.
    yield* this.#endPurges()
    if (task === 'check-terms') return yield* this.#checkTerms(suspected)
    if (task === 'salvage' || (task === 'start' && this.#isSound)) return this.#outcome('none', news)
    const found = isSalvaged ? 'none' : yield* findDamage(this.db)
    const damage = found === 'none' && !isSalvaged ? suspected : found
    if (damage === 'rows') return this.#outcome(damage, news)
    if (damage === 'terms') {
      rebuildTerms(this.db)
      news.push(TERMS_REBUILT)
    }
    this.#isSound = true
    noteChecked(this.db, listParts(this.db) ?? [], this.#now())
    return this.#outcome('none', news)
  }

  #setAside(): void {
    if (this.#db !== null && !this.#isInPlace) bringHome(this.#db)
    this.close()
    if (existsSync(this.#path)) setAside(this.#path, this.#now())
  }

  *#salvagePending(): Generator<void, boolean> {
    let isSalvaged = false
    for (let file = this.#pending(); file !== null; file = this.#pending()) {
      yield* salvage(this.db, { path: this.#path, file, nowMs: this.#now() })
      isSalvaged = true
    }
    return isSalvaged
  }

  *#endPurges(): Generator<void> {
    if (!readUnfinished(this.db).rows) return
    yield* endRemoval(this.db, this.#now())
    this.close()
  }

  #pending(): string | null {
    return pendingSalvage(this.db, this.#path)
  }

  /** @param suspected the result of the check of the full-text tables, which ran in another process */
  *#checkTerms(suspected: Damage): Generator<void, UpkeepOutcome> {
    if (hasBrokenBodies(this.db)) {
      this.#isSound = false
      return this.#outcome('rows', [])
    }
    yield
    const news: string[] = []
    if (suspected === 'terms') {
      rebuildTerms(this.db)
      news.push(TERMS_REBUILT)
    } else {
      const mended = mendTerms(this.db)
      if (mended > 0) news.push(TERMS_MENDED(mended))
    }
    noteDone(this.db, 'check-terms', this.#now())
    return this.#outcome('none', news)
  }

  #describeSalvages(): string[] {
    return listSalvages(this.db, this.#path).map((report) => describeSalvage(this.#path, report))
  }

  #outcome(damage: Damage, news: readonly string[]): UpkeepOutcome {
    if (damage === 'rows') return damageOnly('rows', news)
    const notices = listSalvages(this.db, this.#path).map((report) => ({
      path: nextTo(this.#path, basename(report.file)),
      text: describeSalvage(this.#path, report),
    }))
    const termsCheckedAtMs = lastDone(this.db, 'check-terms')
    const backlog = countWaiting(this.db)
    return { damage, news, notices, backlog, termsCheckedAtMs }
  }
}

/** The outcome of a task that did not read the mirror. */
const damageOnly = (damage: Damage, news: readonly string[] = []): UpkeepOutcome => ({
  damage,
  news,
  notices: [],
  backlog: 0,
  termsCheckedAtMs: null,
})

/**
 * Uses only `stat`, as for every file that SQLite has open. Null if the system does not report it, for example for a disk
 * that does not respond.
 */
function placeOf(path: string): string | null {
  try {
    const isEmpty = statSync(path, { throwIfNoEntry: false })?.size === 0
    return isEmpty ? 'empty' : `${identityAt(path)} ${identityAt(`${path}-wal`)}`
  } catch {
    return null
  }
}
