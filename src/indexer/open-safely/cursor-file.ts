import Database from '../../sqlite.ts'
import type Sqlite from 'better-sqlite3'
import { hash as digest } from 'node:crypto'
import {
  type BigIntStats,
  constants,
  type Dirent,
  existsSync,
  lstatSync,
  readdirSync,
  realpathSync,
  type Stats,
  statfsSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../../mirror/damage/find-damage.ts'
import { takeCheckedCopy } from './checked-copy.ts'
import type { SourceState } from '../../model/source.ts'
import { readRegular, readStart, RefusedFile, withRegular } from '../../regular-file.ts'

/** Device and inode. Another identity means another file, even under the same name. */
export const identityOf = ({ dev, ino }: Pick<BigIntStats, 'dev' | 'ino'>): string => `${dev}:${ino}`

/**
 * Uses `stat` alone. Null if nothing is at the path.
 * @throws Error if it may not be examined
 */
export function identityAt(path: string): string | null {
  const stat = statOrNull(path)
  return stat === null ? null : identityOf(stat)
}

/**
 * Removes folders that are named a second time: by a link, or in other letters where the file system ignores case.
 * Otherwise a store would be read twice, with all its issues. The first name is kept.
 */
export function eachFolderOnce(paths: readonly string[]): string[] {
  const byIdentity = new Map<string, string>()
  for (const path of paths) {
    const identity = nameOf(path)
    if (!byIdentity.has(identity)) byIdentity.set(identity, path)
  }
  return [...byIdentity.values()]
}

/**
 * A folder that does not exist, may not be examined, or is on a file system without inode numbers is identified by its
 * name.
 */
const nameOf = (path: string): string =>
  orIfUnreadable(
    () => {
      const stat = statOrNull(path)
      return stat === null || stat.ino === 0n ? path : identityOf(stat)
    },
    () => path,
  )

/** What `look` finds, or `orElse` says of the code if the system refuses it: a state like any other, which a pass reports. */
export function orIfUnreadable<Value>(look: () => Value, orElse: (code: string) => Value): Value {
  try {
    return look()
  } catch (error) {
    if (codeOf(error) === '') throw error
    return orElse(codeOf(error))
  }
}

/**
 * True also if the path may not be examined: the pass of its source then says so, without affecting others. A link is not
 * a folder, unless `statSync` follows it.
 */
export const mayBeFolder = (path: string, stat: typeof lstatSync = lstatSync): boolean =>
  orIfUnreadable(() => stat(path, { throwIfNoEntry: false })?.isDirectory() ?? false, isNotAbsence)

/** True also if nobody knows, because the path may not be examined. */
export const mayExist = (path: string): boolean =>
  orIfUnreadable(() => statSync(path, { throwIfNoEntry: false }) !== undefined, isNotAbsence)

/** Whether a code of the file system means that nothing is there. Any other one means that nobody knows. */
export const isAbsence = (code: string): boolean => ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(code)
const isNotAbsence = (code: string): boolean => !isAbsence(code)

/**
 * What is in a folder, by name; nothing if it is not there, as one can be deleted while its parent is listed.
 * @throws Error if it may not be listed; otherwise everything in it would count as deleted
 */
export function listEntries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    if (isAbsence(codeOf(error))) return []
    throw error
  }
}

/** The names of the folders in a folder, and of links to folders. Null if it may not be listed. */
export function listFolders(folder: string): string[] | null {
  const isFolder = (entry: Dirent): boolean =>
    entry.isDirectory() || (entry.isSymbolicLink() && mayBeFolder(join(folder, entry.name), statSync))
  return orIfUnreadable(
    () => listEntries(folder).flatMap((entry) => (isFolder(entry) ? entry.name : [])),
    () => null,
  )
}

/** What is at a path itself: a link is not followed. Null if nothing is. */
export const entryAt = (path: string): BigIntStats | null =>
  lstatSync(path, { bigint: true, throwIfNoEntry: false }) ?? null

/** @param withRights whether a change of permissions counts, because an unreadable file may be readable now */
export function stateOf(stat: BigIntStats | null | undefined, withRights = true): string {
  if (stat === null || stat === undefined) return '-'
  const { dev, ino, size, mtimeNs, ctimeNs } = stat
  return `${dev}:${ino}:${size}:${mtimeNs}${withRights ? `:${ctimeNs}` : ''}`
}

/**
 * A folder after what is in it was listed, so that one that vanishes meanwhile does not count as empty. Null if there is none.
 * @param lines change when a file is added, removed or changed
 */
export function folderState(folder: string, lines: readonly string[]) {
  const stat = entryAt(folder)
  if (stat?.isDirectory() !== true) return null
  const identity = identityOf(stat)
  return { identity, signature: digest('sha256', [identity, ...lines].join('\n')) }
}

type PlainFile = { readonly kind: 'bytes'; readonly bytes: Buffer } | { readonly kind: 'too-large' | 'unreadable' }

/**
 * Reads a small file of Cursor's that is not a database. Links are not followed, and other users' files are not read.
 * Everything that can be wrong with the file is a result, not an error.
 */
export function readPlainFile(path: string, bytesMax: number): PlainFile {
  const read = (file: number, { uid, size }: Stats): PlainFile => {
    if (isForeign(uid)) return { kind: 'unreadable' }
    return size > bytesMax ? { kind: 'too-large' } : { kind: 'bytes', bytes: readStart(file, size) }
  }
  return orIfUnreadable<PlainFile>(
    () => withRegular(path, read, noFollow),
    () => ({ kind: 'unreadable' }),
  )
}

// Windows has no such flag. There, only the directory listing recognises a link.
const noFollow = 'O_NOFOLLOW' in constants ? constants.O_NOFOLLOW : 0

function isForeign(uid: number | bigint): boolean {
  const us = process.geteuid?.()
  return us !== undefined && Number(uid) !== us
}

/** Up to this size, a file that is not in use through a WAL is read into memory at once, without a lock on it. */
const COPY_BYTES_MAX = 32 * 1024 * 1024
const BUSY_TIMEOUT_MS = 150

type Db = Sqlite.Database

export interface OpenFile {
  readonly kind: 'open'
  /** Where another thread can open it too; null if a copy is read. */
  readonly path: string | null
  /** Bytes read so far to open the file. Bytes read by queries are counted by their callers. */
  readonly bytesRead: number
  /** How long one read transaction may last. A reader of a rollback-journal file blocks its writer's commit. */
  readonly readMsMax: number
  /** The file's signature when it was opened; compare it with a later `fileSignature`. */
  readonly signature: string
  readonly identity: string
  /** The longest time for which the file was open; 0 if a copy is read. */
  longestReadMs(): number
  /**
   * Whether Cursor has written to the file since it was opened. Work that can wait should then stop, as Cursor may be
   * about to quit.
   */
  isTouched(): boolean
  /**
   * Runs a few reads. If Cursor may be writing, the file is open only during this call: if Cursor quits while we have a
   * handle open, its closing checkpoint does not run and its backup copy is stale.
   */
  read<Value>(use: (db: Db) => Value): Value
  close(): void
}

export interface ClosedFile {
  readonly kind: 'closed'
  readonly state: Exclude<SourceState, 'ok'>
  readonly detail: string | null
}

/**
 * The target of a link, because SQLite keeps the WAL beside the target and not beside the link. If the link cannot be
 * resolved, the path itself: opening it gives the reason.
 */
const realPath = (path: string): string =>
  orIfUnreadable(
    () => (lstatSync(path).isSymbolicLink() ? realpathSync(path) : path),
    () => path,
  )

const statOrNull = (path: string): BigIntStats | null => statSync(path, { bigint: true, throwIfNoEntry: false }) ?? null

/** `statfs` types of mounts on which our locks may not reach Cursor: 9p (WSL's view of Windows), CIFS, SMB2, NFS. */
const NETWORK_MOUNTS: ReadonlyMap<number, string> = new Map([
  [0x01021997, '9p'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x6969, 'NFS'],
])

/** The name of the network file system that contains the file; null if the file is on a local disk. */
function networkMount(path: string): string | null {
  if (process.platform === 'win32' || !existsSync(path)) return null
  return NETWORK_MOUNTS.get(statfsSync(path).type) ?? null
}

/**
 * State of a SQLite file and its WAL from `stat` alone: sizes and nanosecond times. It changed with every one of 20,000
 * commits. Opens nothing, so that this process loses no lock.
 */
export function fileSignature(link: string): string | null {
  const path = realPath(link)
  const main = statOrNull(path)
  if (main === null) return null
  const parts = [main, statOrNull(`${path}-wal`), statOrNull(`${path}-journal`)]
  return parts.map((stat) => stateOf(stat, false)).join(' ')
}

/** The file and SQLite's files beside it: a change shows in one of them. */
export function filesOf(link: string): string[] {
  const path = realPath(link)
  return [path, `${path}-wal`, `${path}-journal`]
}

/** When the file or its WAL last changed, epoch milliseconds; 0 if there is none. */
export function fileChangedAtMs(path: string): number {
  const times = filesOf(path).map((name) => Number(statOrNull(name)?.mtimeMs ?? 0n))
  return Math.max(...times)
}

/**
 * Opens one of Cursor's SQLite files for one pass, without harm: read-only, and never another user's file. On a network
 * mount, where our locks do not reach Cursor, a checked copy is read. A small file that is not in WAL mode, or has an
 * empty WAL, is read from a copy in memory: no lock is taken and no file is left beside it. Everything that can be
 * wrong with the file is a result, not an error.
 */
export function openCursorFile(path: string): OpenFile | ClosedFile {
  try {
    return openChecked(realPath(path))
  } catch (error) {
    return closedBy(error)
  }
}

function openChecked(path: string): OpenFile | ClosedFile {
  const stat = statOrNull(path)
  if (stat === null) return closed('missing', null)
  if (!stat.isFile()) return closed('unreadable', `${path} is not a file.`)
  // A reader with another user id would leave a WAL index that the owner cannot write.
  if (isForeign(stat.uid)) {
    const whose = `The file belongs to user ${stat.uid}, and this daemon runs as user ${process.geteuid?.()}`
    return closed('refused', `${whose}: run it as the user who runs Cursor.`)
  }
  const signature = fileSignature(path)
  const identity = identityOf(stat)
  if (signature === null) return closed('missing', null)
  const mount = networkMount(path)
  if (mount !== null) {
    // It is kept for other sources that read the same file, until the run is over.
    const copy = takeCheckedCopy(path, mount)
    return copy.kind === 'closed'
      ? copy
      : ofCopy(openReadOnly(copy.path), { signature, identity, bytesRead: copy.bytes })
  }
  const head = readHead(path)
  if (stat.size > 0n && !head.toString('latin1', 0, 16).startsWith('SQLite format 3\0')) {
    return closed('corrupt', 'The file is not a SQLite database.')
  }
  const isWal = head[18] === 2
  const walSize = statOrNull(`${path}-wal`)?.size ?? 0n
  if (stat.size <= COPY_BYTES_MAX && (!isWal || walSize === 0n)) return openCopy(path, identity)
  return openLive(path, { signature, identity, bytesRead: 0, readMsMax: isWal ? 50 : 20 })
}

function openLive(path: string, facts: Pick<OpenFile, 'signature' | 'identity' | 'bytesRead' | 'readMsMax'>): OpenFile {
  let longestReadMs = 0
  const read = <Value>(use: (db: Db) => Value): Value => {
    // The file was replaced during a pass. The next pass starts on the new one.
    if (identityAt(path) !== facts.identity) throw new FileError('The file was replaced.', 'SQLITE_BUSY')
    const startedAt = performance.now()
    const db = openReadOnly(path)
    try {
      return ofFile(() => use(db))
    } finally {
      db.close()
      longestReadMs = Math.max(longestReadMs, performance.now() - startedAt)
    }
  }
  const checks = { longestReadMs: () => longestReadMs, isTouched: () => fileSignature(path) !== facts.signature }
  return { kind: 'open', path, ...facts, ...checks, read, close: () => undefined }
}

const ofCopy = (db: Db, facts: Pick<OpenFile, 'signature' | 'identity' | 'bytesRead'>): OpenFile => ({
  kind: 'open',
  path: null,
  ...facts,
  readMsMax: 50,
  longestReadMs: () => 0,
  isTouched: () => false,
  read: (use) => ofFile(() => use(db)),
  close: () => db.close(),
})

function openReadOnly(path: string): Db {
  return ofFile(() => {
    const db = new Database(path, { readonly: true, fileMustExist: true, timeout: BUSY_TIMEOUT_MS })
    db.pragma('query_only = on')
    db.pragma('cache_size = -4000')
    return db
  })
}

/** An error with one of Cursor's files. It is a class of its own, because errors of the mirror have the same codes. */
class FileError extends Error {
  readonly code: string
  constructor(cause: unknown, code = codeOf(cause)) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.code = code
  }
}

function ofFile<Value>(act: () => Value): Value {
  try {
    return act()
  } catch (error) {
    throw error instanceof UnknownLayout || error instanceof RefusedFile ? error : new FileError(error)
  }
}

/** How often to try for a copy between two writes of Cursor's before the file counts as busy. */
const COPY_TRIES = 3

function openCopy(path: string, identity: string): OpenFile | ClosedFile {
  for (let tries = 0; tries < COPY_TRIES; tries += 1) {
    const signature = fileSignature(path)
    if (signature === null || isJournalHot(path)) continue
    const bytes = readRegular(path, COPY_BYTES_MAX)
    // A copy counts only if the file did not change in the meantime and no rollback journal was in use.
    if (fileSignature(path) !== signature || isJournalHot(path)) continue
    // A database in memory has no WAL. These two bytes say which journal mode the file uses; 1 is a rollback journal.
    if (bytes.length >= 20) bytes.fill(1, 18, 20)
    const db = bytes.length === 0 ? new Database(':memory:') : new Database(bytes)
    return ofCopy(db, { signature, identity, bytesRead: bytes.length })
  }
  return closed('busy', 'Cursor is writing to the file.')
}

/** In one journal mode the journal stays after each commit, with a zeroed head. */
function isJournalHot(path: string): boolean {
  const journal = `${path}-journal`
  if ((statOrNull(journal)?.size ?? 0n) === 0n) return false
  try {
    return readHead(journal).some((byte) => byte !== 0)
  } catch (error) {
    // Deleted in the meantime: its transaction is over.
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}

const readHead = (path: string): Buffer => withRegular(path, (file) => readStart(file, 100))

/** A name in a schema, which SQLite repeats, can be very long. */
const DETAIL_LENGTH_MAX = 500

const closed = (state: ClosedFile['state'], detail: string | null): ClosedFile => ({
  kind: 'closed',
  state,
  detail: detail?.slice(0, DETAIL_LENGTH_MAX) ?? null,
})

/** The result of a pass whose file became unreadable, or whose path must not be read. Any other error is thrown again. */
export function endedBy(error: unknown): ClosedFile {
  const isOfFiles = /^E[A-Z]+$/.test(codeOf(error))
  if (error instanceof UnknownLayout) return closed('unreadable', error.message)
  if (isOfFiles || error instanceof FileError || error instanceof RefusedFile) return closedBy(error)
  throw error
}

/** Says why the tables of a store cannot be read. */
export class UnknownLayout extends Error {}

/** The journal contains the former content of the file. Only a process that may write can restore it. */
const HALF_WRITTEN = 'Cursor ended while it was writing to the file. Start Cursor again; then the file can be read.'

/**
 * What an error of SQLite or of the file system means for the file. Any other error is a bug of ours and is thrown
 * again.
 */
export function closedBy(error: unknown): ClosedFile {
  const code = codeOf(error)
  const message = error instanceof Error ? error.message : String(error)
  if (code === 'ENOENT') return closed('missing', null)
  if (error instanceof RefusedFile) return closed('unreadable', error.message)
  if (/^SQLITE_(BUSY|LOCKED|PROTOCOL)/.test(code)) return closed('busy', 'Cursor has locked the file.')
  if (code === 'SQLITE_READONLY_ROLLBACK') return closed('busy', HALF_WRITTEN)
  if (/^SQLITE_(CORRUPT|NOTADB|FORMAT)/.test(code)) return closed('corrupt', message)
  if (/^SQLITE_(CANTOPEN|READONLY|IOERR|PERM|AUTH)/.test(code) || /^E[A-Z]+$/.test(code)) {
    return closed('unreadable', `${message}: check that your user may read the file and its folder.`)
  }
  // A table without a column that is read, or of a module that SQLite does not have.
  if (code.startsWith('SQLITE_'))
    return closed('unreadable', `SQLite cannot read it: ${message}. This layout is unknown.`)
  throw error
}

/** A larger value is not read: it becomes an issue with its key and size. */
export const VALUE_OCTETS_MAX = 32 * 1024 * 1024

export const ITEMS_MAX = 1000
/** Few enough that most values are garbage before the young generation is collected. */
const OCTETS_MAX = 1024 * 1024

export type Portion = ReturnType<typeof readPortion>

/**
 * Reads the first of these items in one short transaction on a store of Cursor's: at least one and at most 1,000,
 * stopping after `readMsMax` milliseconds or 1 MB.
 * @param read reads one item and returns its bytes
 * @returns `taken`: how many of the items were read
 */
export function readPortion<Item>(db: Db, items: readonly Item[], readMsMax: number, read: (item: Item) => number) {
  const startedAt = performance.now()
  let taken = 0
  let bytesRead = 0
  let isRead = false
  const readAll = db.transaction(() => {
    for (const item of items.slice(0, ITEMS_MAX)) {
      if (taken > 0 && (bytesRead > OCTETS_MAX || performance.now() - startedAt > readMsMax)) break
      bytesRead += read(item)
      taken += 1
    }
    isRead = true
  })
  try {
    readAll()
  } catch (error) {
    // If a read met a damaged page and went on, the end of the transaction reports the page once more.
    if (!isRead) throw error
  }
  return { taken, bytesRead, elapsedMs: performance.now() - startedAt }
}

/**
 * Reads data that may be on a damaged page of a store.
 * @returns null if it is, so that damage affects only the damaged rows
 */
export function tryRead<Value>(read: () => Value): { readonly value: Value } | null {
  try {
    return { value: read() }
  } catch (error) {
    if (!/^SQLITE_(CORRUPT|IOERR|TOOBIG)/.test(codeOf(error))) throw error
    return null
  }
}
