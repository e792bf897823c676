import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'

/** From this number of added rows on, merging is worthwhile. */
const ROWS_MIN = 4000
/** Pages of 16 KB per step; a step takes about 20 ms. */
const PAGES = 150

interface UnmergedRows {
  readonly rows: number
  readonly isBegun: boolean
}

/** Full-text rows in separate segments, each with its own list of words. Large transactions leave these behind. */
const unmerged = new WeakMap<Mirror, UnmergedRows>()

export function noteLooseRows(db: Mirror, rows: number): void {
  unmerged.set(db, { rows: rows + (unmerged.get(db)?.rows ?? 0), isBegun: false })
}

/**
 * How many segments of one level there must be before FTS5 merges some of their pages with each write (0: never), and
 * before it merges all at once.
 */
const SETTINGS = { steady: [16, 16], filling: [0, 1000] } as const
type Merging = keyof typeof SETTINGS

const READ_SETTING = `select v from message_terms_config where k = 'automerge'`
const WRITE_SETTINGS = `insert into message_terms (message_terms, rank) values ('automerge', ?), ('crisismerge', ?)`

const isSet = (db: Mirror, merging: Merging): boolean =>
  prepared<number>(db, READ_SETTING).pluck().get() === SETTINGS[merging][0]

function set(db: Mirror, merging: Merging): void {
  const [automerge, crisismerge] = SETTINGS[merging]
  if (!isSet(db, merging)) prepared(db, WRITE_SETTINGS).run(BigInt(automerge), BigInt(crisismerge))
}

/**
 * Call this before very many rows are added. FTS5 then merges nothing, because it would write the same rows several times,
 * until `mergeSome` has merged them all. The mirror remembers it, so that a kill in between changes nothing.
 */
export const mergeLater = (db: Mirror): void => set(db, 'filling')

/** Whether merging would shrink the tables by about 5%. The count is not stored: it may be lost when the program ends. */
export const needsMerge = (db: Mirror): boolean => (unmerged.get(db)?.rows ?? 0) >= ROWS_MIN || isSet(db, 'filling')

const MERGE = `insert into message_terms (message_terms, rank) values ('merge', ?)`
const CHANGES = `select total_changes() as count`

/** One step of merging the full-text rows. Repeat it until `needsMerge` is false; then all rows are in one segment. */
export function mergeSome(db: Mirror): void {
  const { rows, isBegun } = unmerged.get(db) ?? { rows: 0, isBegun: false }
  const count = (): number => prepared<{ count: number }>(db, CHANGES).get()?.count ?? 0
  const before = count()
  // A negative number makes FTS5 merge all segments, not only those of one level.
  prepared(db, MERGE).run(BigInt(isBegun ? PAGES : -PAGES))
  // The statement itself counts as one change; see "The 'merge' Command" in the FTS5 manual.
  if (count() - before < 2) {
    unmerged.delete(db)
    set(db, 'steady')
  } else {
    unmerged.set(db, { rows, isBegun: true })
  }
}
