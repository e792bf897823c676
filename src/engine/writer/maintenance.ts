import { existsSync } from 'node:fs'
import { identityAt } from '../../indexer/open-safely/cursor-file.ts'
import { leaveMark, takeMark } from '../../mirror/damage/clean-mark.ts'
import { hasBrokenText, isDamage, isDamaged } from '../../mirror/damage/find-damage.ts'
import { readAgain, finishReplacing, listSalvages, replaceMirror } from '../../mirror/damage/replace-mirror.ts'
import { beginEpoch } from '../../mirror/index/index-file.ts'
import { bringHome, openWriter, type Mirror } from '../../mirror/open.ts'
import { honourBars } from '../../mirror/purge/purge-rows.ts'
import { isDone } from '../../mirror/purge/bars.ts'

/**
 * The mirror's only writing connection. It opens a sound mirror: after an unclean end the pages are checked first, and a
 * new mirror replaces a damaged one. Nothing reads the mirror at that time.
 */
export class MirrorMaintenance {
  readonly path: string
  #db: Mirror | null = null
  /** The file that is open. */
  #identity: string | null = null
  /** What was saved of a damaged mirror when the mirror was opened, as sentences. */
  news: string | null = null

  constructor(path: string) {
    this.path = path
  }

  /** @throws UserError `mirror-newer` or `mirror-older` */
  get db(): Mirror {
    if (this.#db !== null) return this.#db
    const db = this.#open()
    // A purge was interrupted, or the mirror was put back from before one.
    if (isDone(db, 'rows')) return db
    honourBars(db, Date.now(), null)
    // Its settings are for removing only.
    this.close()
    return this.#open()
  }

  #open(): Mirror {
    finishReplacing(this.path)
    const mark = takeMark(this.path)
    const state = existsSync(this.path) ? mark : 'clean'
    let db = state === 'damaged' ? null : openIfSound(this.path, state === 'clean')
    if (db === null) {
      // If this is killed, the next opening must not depend on the check: it misses some damage.
      leaveMark(this.path, 'damaged')
      replaceMirror(this.path, Date.now())
      db = openWriter(this.path)
      this.news = listSalvages(db, this.path).at(-1)?.text ?? null
    }
    beginEpoch(db)
    this.#db = db
    this.#identity = identityAt(this.path)
    return db
  }

  /** After an error that means damage, the next opening replaces the mirror. */
  noteDamage(): void {
    leaveMark(this.path, 'damaged')
  }

  close(): void {
    if (this.#db === null) return
    // The file may have been moved or replaced.
    const isInPlace = identityAt(this.path) === this.#identity
    if (!isInPlace) bringHome(this.#db)
    this.#db.close()
    this.#db = null
    if (isInPlace) leaveMark(this.path, 'clean')
  }
}

/** Null if the mirror is damaged. @param isChecked true if it is known to be sound */
function openIfSound(path: string, isChecked: boolean): Mirror | null {
  let db: Mirror | null = null
  try {
    db = openWriter(path)
    if (isChecked) return db
    if (!isDamaged(db)) {
      if (hasBrokenText(db)) readAgain(db)
      return db
    }
  } catch (error) {
    if (!isDamage(error)) throw error
  }
  db?.close()
  return null
}
