import { existsSync, statSync } from 'node:fs'
import { identityAt } from '../../indexer/open-safely/file-identity.ts'
import { leaveCleanMark, takeCleanMark } from '../../mirror/damage/clean-mark.ts'
import { findDamage, isDamage } from '../../mirror/damage/find-damage.ts'
import { finishReplacing, listSalvages, replaceMirror } from '../../mirror/damage/replace-mirror.ts'
import { countWaiting } from '../../mirror/fulltext/backlog.ts'
import { bringHome, openWriter, type Mirror } from '../../mirror/open.ts'
import { endRemoval } from '../../mirror/purge/remove-targets.ts'
import { readUnfinished } from '../../mirror/purge/state.ts'
import type { UpkeepOutcome, UpkeepTask } from './messages.ts'

/** Everything that reads the mirror. Nothing may read the file while it is replaced. */
export interface Readers {
  shut(): void
  reopen(): void
}

/**
 * The mirror's only writing connection, with its check and its repair. After an unclean end the pages are checked before
 * anything is written. A mirror that is known to be sound gets a mark when it is closed.
 */
export class MirrorMaintenance {
  readonly path: string
  readonly #now: () => number
  #db: Mirror | null = null
  /** Identity of the open file and its WAL. Null if the system does not report it. */
  #place: string | null = null
  /** True if its pages were checked since the last crash, and nothing has pointed to damage since. */
  #isSound = false
  /** True if there is a new mirror since the last outcome. */
  #isReplaced = false

  constructor(path: string, now: () => number) {
    this.path = path
    this.#now = now
  }

  /**
   * Opens the mirror. If it cannot be opened because of damage, a new one replaces it. Nothing reads the mirror at that
   * time.
   * @throws UserError `mirror-newer` or `mirror-older`
   */
  get db(): Mirror {
    if (this.#db === null) {
      this.#db = this.#open()
      this.#place = placeOf(this.path)
    }
    return this.#db
  }

  #open(): Mirror {
    finishReplacing(this.path)
    const isNew = !existsSync(this.path)
    this.#isSound = takeCleanMark(this.path) || isNew
    try {
      return openWriter(this.path)
    } catch (error) {
      if (!isDamage(error)) throw error
      this.#replace()
      return openWriter(this.path)
    }
  }

  #replace(): void {
    if (this.#db !== null && !this.#isInPlace) bringHome(this.#db)
    this.close()
    if (existsSync(this.path)) replaceMirror(this.path, this.#now())
    this.#isSound = true
    this.#isReplaced = true
  }

  /** False if the file or its WAL was moved, removed, replaced or emptied: nobody would find what is written now. */
  get #isInPlace(): boolean {
    const place = placeOf(this.path)
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
    if (isMarked) leaveCleanMark(this.path)
  }

  /** Runs one task, in steps. It can be stopped between two steps. */
  *run(task: UpkeepTask): Generator<void, UpkeepOutcome> {
    if (task === 'repair') this.#replace()
    else if (!this.#isInPlace) return damaged
    try {
      if (task === 'look') return { ...damaged, isDamaged: false }
      const { db } = this
      // Before any source is read, so that no part of a purged chat returns.
      if (readUnfinished(db).rows) {
        yield* endRemoval(db, this.#now())
        this.close()
      }
      const isDue = task === 'check' || (task === 'start' && !this.#isSound)
      if (isDue) this.#isSound = !(yield* findDamage(this.db))
      if (isDue && !this.#isSound) return damaged
      return this.#outcome()
    } catch (error) {
      // The damaged page may be one that this task reads itself.
      if (task === 'repair' || !isDamage(error)) throw error
      this.#isSound = false
      return damaged
    }
  }

  #outcome(): UpkeepOutcome {
    const notices = listSalvages(this.db, this.path)
    const isReplaced = this.#isReplaced
    this.#isReplaced = false
    const news = isReplaced ? (notices.at(-1)?.text ?? null) : null
    return { isDamaged: false, isReplaced, news, notices, backlog: countWaiting(this.db) }
  }
}

const damaged: UpkeepOutcome = { isDamaged: true, isReplaced: false, news: null, notices: [], backlog: 0 }

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
