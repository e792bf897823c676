import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  type Stats,
} from 'node:fs'
import { dirname } from 'node:path'
import { UserError } from '../../model/user-error.ts'

/** Windows has neither. A link is not followed, and a pipe that nobody writes to does not hold us up. */
const CAREFULLY = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

export const isFolder = (path: string): boolean => look(path)?.isDirectory() ?? false
export const isFile = (path: string): boolean => look(path)?.isFile() ?? false

/** Undefined where nothing lies there, nor can: behind a file there is nothing. */
function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return undefined
    throw error
  }
}

/** How long a file is that `readPlainFile` would read; null where there is none. */
export function plainFileSize(below: string, path: string): number | null {
  for (let folder = dirname(path); folder.length > below.length; folder = dirname(folder)) {
    if (!isFolder(folder)) return null
  }
  const stat = look(path)
  return stat?.isFile() === true ? stat.size : null
}

/** Removes a file of the archive, or a link in its place. A folder there is somebody else's, and stays. */
export function removeFile(path: string): void {
  if (!isFolder(path)) rmSync(path, { force: true })
}

/** @throws UserError `archive-folder` where a folder lies in the place of a file that is to be written */
export function requireNoFolder(path: string): void {
  if (!isFolder(path)) return
  const text = `${path} is a folder, and a file of the archive belongs there.`
  throw new UserError('archive-folder', text, 'Move it away, or choose another folder by archives.dir.')
}

/**
 * A file's bytes, where it is a file and not something that looks like one.
 * @param below the archive folder; none of the folders between it and the file may be a link
 * @throws Error that says why not
 */
export function readPlainFile(below: string, path: string, bytesMax: number): Buffer {
  for (let folder = dirname(path); folder.length > below.length; folder = dirname(folder)) {
    if (!isFolder(folder)) throw new Error(`${folder} is not a folder`)
  }
  if (!lstatSync(path).isFile()) throw new Error('it is not a plain file')
  const file = openSync(path, CAREFULLY)
  try {
    const { size } = fstatSync(file)
    if (size > bytesMax) throw new Error(`it is ${size} bytes long`)
    return readFileSync(file)
  } finally {
    closeSync(file)
  }
}

/**
 * Makes a folder of the archive for this user alone, and those between it and the archive folder.
 * @throws UserError `archive-folder` where something else is in its place: what is written must not land elsewhere
 */
export function makeFolder(below: string, path: string): void {
  if (path.length > below.length) makeFolder(below, dirname(path))
  else return void mkdirSync(path, { recursive: true, mode: 0o700 })
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) mkdirSync(path, { mode: 0o700 })
  if (isFolder(path)) return
  const text = `${path} is not a folder, and nothing can be archived there.`
  throw new UserError('archive-folder', text, 'Move it away, or choose another folder by archives.dir.')
}

export const saysWhy = (error: unknown): string => (error instanceof Error ? error.message : String(error))
