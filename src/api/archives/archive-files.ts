import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
} from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isObjectHash, objectPath } from '../../archive/names.ts'
import { UserError } from '../../model/user-error.ts'

/** A process that writes to the archive holds a SQLite lock on this file. It is always empty. */
export const ARCHIVE_LOCK = '.lock'
/** The end of a file's name while it is being written. */
export const UNFINISHED = '.tmp'

/** About the maximum length of a JavaScript string. This program writes no larger files. */
export const FILE_BYTES_MAX = 500 * 1024 * 1024

export function isFolder(path: string): boolean {
  try {
    return lstatSync(path).isDirectory()
  } catch {
    // There is nothing, or nothing that can be read.
    return false
  }
}

/** The folder itself may be a link, but nothing below it may be one. */
export const realFolder = (given: string): string => (existsSync(given) ? realpathSync(given) : given)

/** Links are not followed, and a pipe without a writer does not block. Windows has neither flag. */
const CAREFULLY = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/**
 * The bytes of a plain file of the archive. Links, pipes and devices are refused, also in place of a folder above it.
 * @param path below the archive folder
 * @throws Error that says why the file cannot be read
 */
export function readPlainFile(dir: string, path: string): Buffer {
  const whole = join(dir, path)
  for (let folder = dirname(whole); folder.length > dir.length; folder = dirname(folder)) {
    if (!isFolder(folder)) throw new Error(`${folder} is not a folder`)
  }
  if (!lstatSync(whole).isFile()) throw new Error('it is not a plain file')
  const file = openSync(whole, CAREFULLY)
  try {
    const { size } = fstatSync(file)
    if (size > FILE_BYTES_MAX) throw new Error(`it is ${size} bytes long`)
    return readFileSync(file)
  } finally {
    closeSync(file)
  }
}

/**
 * Writes a file of the archive: a temporary one, synced to the disk, and then renamed. Whoever names it elsewhere calls
 * `syncFolders` before, so that its name survives a power cut.
 * @param path below the archive folder
 * @throws UserError `archive-folder` if something else is in its place; NodeJS.ErrnoException, ENOSPC if the disk is full
 */
export async function writePlainFile(dir: string, path: string, pieces: readonly (Buffer | string)[]): Promise<void> {
  const whole = join(dir, path)
  const beside = `${whole}${UNFINISHED}`
  makeFolder(dir, dirname(whole))
  for (const each of [whole, beside]) if (isFolder(each)) throw inTheWay(each, 'is a folder')
  // An existing file is not opened: it may be a link to another place.
  await rm(beside, { force: true })
  const file = await open(beside, 'wx', 0o600)
  try {
    for (const piece of pieces) await file.writeFile(piece)
    await file.sync()
    await file.close()
    await rename(beside, whole)
  } catch (error) {
    await file.close()
    await rm(beside, { force: true })
    throw error
  }
}

/** A rename survives a power cut only if its folder was synced. Windows has no such call. */
export async function syncFolders(dir: string, paths: Iterable<string>): Promise<void> {
  if (process.platform === 'win32') return
  for (const path of new Set([...paths].map((each) => dirname(join(dir, each))))) {
    const folder = await open(path, 'r')
    await folder.sync().finally(() => folder.close())
  }
}

/** Makes a folder of the archive, and its parents up to the archive folder, accessible to this user only. */
export function makeFolder(dir: string, path: string): void {
  if (path.length <= dir.length) return void mkdirSync(path, { recursive: true, mode: 0o700 })
  makeFolder(dir, dirname(path))
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) mkdirSync(path, { mode: 0o700 })
  if (!isFolder(path)) throw inTheWay(path, 'is not a folder')
}

const inTheWay = (path: string, what: string): UserError =>
  new UserError(
    'archive-folder',
    `${path} ${what}, and nothing can be archived there.`,
    'Move it away, or choose another folder by archives.dir.',
  )

/** Removes an object, or a link in its place. A folder in its place stays: it does not belong to the archive. */
export function removeObject(dir: string, hash: string): void {
  const path = join(dir, objectPath(hash))
  if (!isFolder(path)) rmSync(path, { force: true })
}

/** Names in a folder of the archive. Empty if there is no such folder. */
const namesIn = (path: string): readonly string[] => (isFolder(path) ? readdirSync(path) : [])

/** Hashes of all objects in the folder, whether a run names them or not. */
export function listObjects(dir: string): readonly string[] {
  const folders = namesIn(join(dir, 'objects')).filter((name) => /^[0-9a-f]{2}$/.test(name))
  return folders.flatMap((folder) =>
    namesIn(join(dir, 'objects', folder))
      .map((file) => file.replace(/\.jsonl\.gz$/, ''))
      .filter((hash) => isObjectHash(hash) && hash.startsWith(folder)),
  )
}

/** Removes the temporary files of an interrupted run. No other file has such a name. */
export function removeUnfinished(dir: string): void {
  const objects = join(dir, 'objects')
  for (const folder of [join(dir, 'runs'), ...namesIn(objects).map((name) => join(objects, name))]) {
    for (const name of namesIn(folder)) {
      if (name.endsWith(UNFINISHED) && !isFolder(join(folder, name))) rmSync(join(folder, name), { force: true })
    }
  }
}

/** An error of missing permissions becomes a `UserError` that names the path. Any other error stays as it is. */
export function explainForbidden(error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error && 'path' in error)) return error
  if (error.code !== 'EACCES' && error.code !== 'EPERM' && error.code !== 'EROFS') return error
  const text = `${String(error.path)} cannot be read or written (${error.code}).`
  const hint =
    'Make it readable and writable for the user who runs this, or choose another folder by archives.dir. A restore with --from only reads.'
  return new UserError('archive-folder', text, hint, { cause: error })
}

export const saysWhy = (error: unknown): string => (error instanceof Error ? error.message : String(error))
