import { basename, dirname } from 'node:path'
import type { SourceId } from '../../model/ids.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import type { SourceName } from './source-state.ts'

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
