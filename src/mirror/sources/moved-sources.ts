import { basename, dirname } from 'node:path'
import type { Mirror } from '../open.ts'
import { ARCHIVE, HUB, type SourceName } from './sources.ts'
import { prepared } from '../sql.ts'
import type { SourceId } from '../../model/ids.ts'

interface Known {
  readonly num: number
  readonly id: SourceId
  readonly path: string
  /** Null if the source was never read. */
  readonly identity: string | null
  /** Epoch milliseconds; null if no pass succeeded yet. */
  readonly lastSyncAt: number | null
}

/** The file or folder that is at a path now. */
export interface Found {
  readonly identity: string
  /** Creation time in epoch milliseconds; 0 if the file system does not report it. */
  readonly madeAtMs: number
}

const IS_KNOWN = `select 1 from sources where id = ?`
const LIST_ALIKE = `select num, id, path, identity, last_sync_at as lastSyncAt from sources where kind = ?`
const RENAME = `update sources set first_id = coalesce(first_id, id), id = ?, path = ? where num = ?`

/**
 * Recognises a store under a new path, for example after its folder was moved, or if a link leads to it. The source keeps
 * its rows and gets the new path. As a second source, the first one would hold all its rows forever, so nothing that
 * Cursor deletes later would count as deleted.
 * @param current the sources that are looked for now
 * @param look examines a path; null if nothing exists there
 */
export function renameMoved(
  db: Mirror,
  current: ReadonlyMap<SourceId, SourceName>,
  look: (path: string) => Found | null,
): void {
  const fresh = [...current.values()].filter(({ id }) => prepared(db, IS_KNOWN).get(id) === undefined)
  const movedTo = new Map<string, string>()
  for (const source of fresh) {
    const found = look(source.path)
    if (found === null) continue
    const before = findFormer(db, source, current, (known) => wasRead(known, found))
    if (before !== undefined && isNamedAlike(before.path, source.path)) movedTo.set(before.path, source.path)
  }
  // One file can be several sources, and the mirror may know the file's identity for only some of them.
  for (const source of fresh) {
    const before = findFormer(db, source, current, ({ path }) => movedTo.get(path) === source.path)
    if (before !== undefined) prepared(db, RENAME).run(source.id, source.path, before.num)
  }
}

const findFormer = (
  db: Mirror,
  { kind }: SourceName,
  current: ReadonlyMap<SourceId, SourceName>,
  isIt: (known: Known) => boolean,
): Known | undefined =>
  prepared<Known>(db, LIST_ALIKE)
    .all(kind)
    .find((known) => !current.has(known.id) && isIt(known))

/** A file system reuses the inode of a deleted file. The new file was created after the former one was last read. */
const wasRead = ({ identity, lastSyncAt }: Known, found: Found): boolean =>
  identity === found.identity && lastSyncAt !== null && found.madeAtMs <= lastSyncAt

/** A check for file systems without creation times: a file of another workspace is in a folder of another name. */
const isNamedAlike = (a: string, b: string): boolean =>
  basename(a) === basename(b) && basename(dirname(a)) === basename(dirname(b))

const LIST_UNREAD = `
select num, id from sources
where state <> 'ok' and last_sync_at is null and kind not in ('', '${ARCHIVE}', '${HUB}')
  and not exists (select 1 from source_rows where source = num)
`
const LIST_PRESENT = `select num, id, path from sources where state <> 'missing' and kind not in ('', '${ARCHIVE}', '${HUB}')`
const MISS = `update sources set state = 'missing', detail = null where num = ?`
const FORGET = `delete from sources where num = ?`

/**
 * Deletes sources that were never read and are not looked for any more, for example those of a misspelled folder, or of
 * a folder that may be listed again. Otherwise they would be reported as missing or unreadable forever.
 * @param current the sources that are looked for now
 */
export function forgetUnread(db: Mirror, current: ReadonlySet<SourceId>): void {
  for (const { num, id } of prepared<{ num: number; id: SourceId }>(db, LIST_UNREAD).all()) {
    if (!current.has(id)) forget(db, num)
  }
}

/**
 * Marks sources as missing if their file or folder was deleted. A deleted workspace or transcript folder is no longer
 * looked for, so its state would stay as it was at the last pass. Its content stays in the mirror.
 * @param current the sources that are looked for now
 * @param isGone whether nothing exists at this path any more
 */
export function missVanished(db: Mirror, current: ReadonlySet<SourceId>, isGone: (path: string) => boolean): void {
  for (const { num, id, path } of prepared<{ num: number; id: SourceId; path: string }>(db, LIST_PRESENT).all()) {
    if (!current.has(id) && isGone(path)) prepared(db, MISS).run(num)
  }
}

function forget(db: Mirror, num: number): void {
  try {
    prepared(db, FORGET).run(num)
  } catch (error) {
    // Other rows refer to the source, so it was in use after all.
    if (error instanceof Error && 'code' in error && error.code === 'SQLITE_CONSTRAINT_FOREIGNKEY') return
    throw error
  }
}
