import { existsSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { identityAt } from '../../indexer/open-safely/file-identity.ts'
import { bringHome, openWriter, type Mirror } from '../../mirror/open.ts'
import { listSalvages, pendingSalvage, salvage, type SalvageReport } from '../../mirror/salvage/salvage.ts'
import { dropSetAside, finishSettingAside, listSetAside, nextTo, setAside } from '../../mirror/salvage/set-aside.ts'
import { readUnfinished } from '../../mirror/purge/state.ts'
import { endRemoval } from '../../mirror/purge/remove-targets.ts'
import { findDamage, hasBrokenBodies, isDamage, type Damage } from '../../mirror/maintenance/check-pages.ts'
import { mendTerms, rebuildTerms } from '../../mirror/maintenance/rebuild-terms.ts'
import { lastDone, noteDone } from '../../mirror/maintenance/upkeep-times.ts'
import { countWaiting } from '../../mirror/fulltext/backlog.ts'
import type { UpkeepOutcome, UpkeepTask } from './messages.ts'

const TERMS_REBUILT =
  'The full-text tables of the mirror were damaged and are made anew from its messages: nothing is lost, and searches say what they miss until it is done.'
const TERMS_MENDED = (rows: number): string => `${rows} full-text rows of the mirror were wrong and are made anew.`

const BARS_LOST = ' What was purged and Cursor still holds may come in again: purge it once more.'

const count = (value: number): string => value.toLocaleString('en')

/** The sentence that a person reads of what became of a damaged mirror. */
function tellSalvage(path: string, { file, chats, messages, lost, hasLostBars }: SalvageReport): string {
  const left = lost === 0 ? '' : `, while ${count(lost)} of its rows could not be read`
  const bars = hasLostBars === 1 ? BARS_LOST : ''
  return `The mirror was damaged and is made anew: ${count(messages)} messages of ${count(chats)} chats were saved${left}; the damaged file lies at ${nextTo(path, file)}.${bars}`
}

/** Everything that reads the mirror. While its file is replaced, nothing may read it. */
export interface Readers {
  shut(): void
  reopen(): void
}

/** The mirror's one writing connection, and what keeps the mirror sound. A check of pages comes before anything writes. */
export class MirrorMaintenance {
  readonly #path: string
  readonly #now: () => number
  #db: Mirror | null = null
  /** Null where the system does not tell. */
  #place: string | null = null

  constructor(path: string, now: () => number) {
    this.#path = path
    this.#now = now
  }

  /**
   * Opens the mirror. One that cannot even be opened is set aside, so that there is always one to write to: nobody reads
   * at that time.
   * @throws UserError `mirror-newer`
   */
  get db(): Mirror {
    if (this.#db === null) {
      this.#db = this.#open()
      this.#place = placeOf(this.#path)
    }
    return this.#db
  }

  /** False where the file, or its WAL, was moved, removed, replaced or emptied: what is written reaches nobody. */
  get #isInPlace(): boolean {
    const place = placeOf(this.#path)
    return this.#db === null || this.#place === null || place === null || place === this.#place
  }

  close(): void {
    this.#db?.close()
    this.#db = null
  }

  /** Names of the damaged mirrors that were set aside. */
  get setAside(): readonly string[] {
    return listSetAside(this.#path)
  }

  /** Removes them: what could be read of them is in the mirror. @returns their names */
  dropSetAside(): readonly string[] {
    const files = this.setAside.filter((file) => file !== this.#pending())
    for (const file of files) dropSetAside(this.#path, file)
    return files
  }

  #open(): Mirror {
    finishSettingAside(this.#path)
    try {
      return openWriter(this.#path)
    } catch (error) {
      if (!isDamage(error)) throw error
      setAside(this.#path, this.#now())
      return openWriter(this.#path)
    }
  }

  /** One duty, in steps that can be ended in between. */
  *keep(order: UpkeepTask): Generator<void, UpkeepOutcome> {
    try {
      return yield* this.#keep(order)
    } catch (error) {
      // A damaged page may be one that says when it was last looked at.
      if (order.task === 'set-aside' || !isDamage(error)) throw error
      return this.#outcome('rows', [])
    }
  }

  *#keep({ task, suspected }: UpkeepTask): Generator<void, UpkeepOutcome> {
    const news: string[] = []
    if (task === 'set-aside') this.#setAside()
    else if (!this.#isInPlace) return unlooked('rows')
    if (task === 'look') return unlooked('none')
    const isSalvaged = yield* this.#salvagePending()
    if (isSalvaged) news.push(...this.#tellSalvages().slice(-1))
    // Before anything is read: what a purge noted may not come in again in parts.
    yield* this.#endPurges()
    if (task === 'check-terms') return yield* this.#checkTerms(suspected)
    if (task === 'salvage') return this.#outcome('none', news)
    const found = isSalvaged ? 'none' : yield* findDamage(this.db)
    const damage = found === 'none' && !isSalvaged ? suspected : found
    if (damage !== 'terms') return this.#outcome(damage, news)
    rebuildTerms(this.db)
    return this.#outcome('none', [...news, TERMS_REBUILT])
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

  /** @param suspected what the check of the full-text tables themselves, which any process can make, has shown */
  *#checkTerms(suspected: Damage): Generator<void, UpkeepOutcome> {
    if (hasBrokenBodies(this.db)) return this.#outcome('rows', [])
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

  #tellSalvages(): string[] {
    return listSalvages(this.db, this.#path).map((report) => tellSalvage(this.#path, report))
  }

  #outcome(damage: Damage, news: readonly string[]): UpkeepOutcome {
    if (damage === 'rows') return unlooked('rows', news)
    const notices = listSalvages(this.db, this.#path).map((report) => ({
      path: nextTo(this.#path, basename(report.file)),
      text: tellSalvage(this.#path, report),
    }))
    const termsCheckedAtMs = lastDone(this.db, 'check-terms')
    const backlog = countWaiting(this.db)
    return { damage, news, notices, backlog, termsCheckedAtMs }
  }
}

const unlooked = (damage: Damage, news: readonly string[] = []): UpkeepOutcome => ({
  damage,
  news,
  notices: [],
  backlog: 0,
  termsCheckedAtMs: null,
})

/** By `stat` alone, as with all that SQLite has open. Null where the system does not tell, as for a disk that does not answer now. */
function placeOf(path: string): string | null {
  try {
    const isEmpty = statSync(path, { throwIfNoEntry: false })?.size === 0
    return isEmpty ? 'empty' : `${identityAt(path)} ${identityAt(`${path}-wal`)}`
  } catch {
    return null
  }
}
