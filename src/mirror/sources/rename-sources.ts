import { basename, dirname } from 'node:path'
import type { SourceId } from '../../model/ids.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import type { SourceName } from './source-state.ts'

interface Known {
  readonly num: number
  readonly id: SourceId
  readonly path: string
  /** Null where nothing was ever found in it. */
  readonly identity: string | null
  /** Epoch milliseconds; null where no pass ended well. */
  readonly lastSyncAt: number | null
}

/** The file or folder that lies at a path now. */
export interface Found {
  readonly identity: string
  /** Epoch milliseconds; 0 where the file system does not tell. */
  readonly madeAtMs: number
}

const IS_KNOWN = `select 1 from sources where id = ?`
const LIST_ALIKE = `select num, id, path, identity, last_sync_at as lastSyncAt from sources where kind = ?`
const RENAME = `update sources set first_id = coalesce(first_id, id), id = ?, path = ? where num = ?`

/**
 * A store that was read before, and is now looked for under another path, as when its folder was moved, or is named by a
 * link to it: it keeps what is known of it. As a second store, the first would be told as holding for ever all that it
 * once held, and nothing that Cursor deletes would be told as deleted.
 * @param looked what is looked for now
 * @param look at what lies at this path; null where nothing does
 */
export function renameMoved(
  db: Mirror,
  looked: ReadonlyMap<SourceId, SourceName>,
  look: (path: string) => Found | null,
): void {
  const fresh = [...looked.values()].filter(({ id }) => prepared(db, IS_KNOWN).get(id) === undefined)
  const movedTo = new Map<string, string>()
  for (const source of fresh) {
    const found = look(source.path)
    if (found === null) continue
    const before = findUnlooked(db, source, looked, (known) => wasRead(known, found))
    if (before !== undefined && isNamedAlike(before.path, source.path)) movedTo.set(before.path, source.path)
  }
  // One file can be several sources, and not of each does the mirror know which file it was.
  for (const source of fresh) {
    const before = findUnlooked(db, source, looked, ({ path }) => movedTo.get(path) === source.path)
    if (before !== undefined) prepared(db, RENAME).run(source.id, source.path, before.num)
  }
}

const findUnlooked = (
  db: Mirror,
  { kind }: SourceName,
  looked: ReadonlyMap<SourceId, SourceName>,
  isIt: (known: Known) => boolean,
): Known | undefined =>
  prepared<Known>(db, LIST_ALIKE)
    .all(kind)
    .find((known) => !looked.has(known.id) && isIt(known))

/** A file system gives the number of a deleted file to another one: that was made after the former was last read. */
const wasRead = ({ identity, lastSyncAt }: Known, found: Found): boolean =>
  identity === found.identity && lastSyncAt !== null && found.madeAtMs <= lastSyncAt

/** Where the file system does not tell when a file was made: that of another workspace has another folder. */
const isNamedAlike = (a: string, b: string): boolean =>
  basename(a) === basename(b) && basename(dirname(a)) === basename(dirname(b))
