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

/** Links are not followed, and a pipe without a writer does not block. Windows has neither flag. */
const CAREFULLY = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

export const isFolder = (path: string): boolean => look(path)?.isDirectory() ?? false
export const isFile = (path: string): boolean => look(path)?.isFile() ?? false

/** Undefined if nothing exists there, or if a parent is a file. */
function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return undefined
    throw error
  }
}

/** The size of a file that `readPlainFile` can read. Null if there is none. */
export function plainFileSize(below: string, path: string): number | null {
  for (let folder = dirname(path); folder.length > below.length; folder = dirname(folder)) {
    if (!isFolder(folder)) return null
  }
  const stat = look(path)
  return stat?.isFile() === true ? stat.size : null
}

/** Removes a file of the archive, or a link in its place. A folder stays: it does not belong to the archive. */
export function removeFile(path: string): void {
  if (!isFolder(path)) rmSync(path, { force: true })
}

/** @throws UserError `archive-folder` if a folder is in the place of a file that will be written */
export function requireNoFolder(path: string): void {
  if (!isFolder(path)) return
  const text = `${path} is a folder, and a file of the archive belongs there.`
  throw new UserError('archive-folder', text, 'Move it away, or choose another folder by archives.dir.')
}

/**
 * The bytes of a plain file. Links, pipes and devices are refused.
 * @param below the archive folder; no folder between it and the file may be a link
 * @throws Error that says why the file cannot be read
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
 * Makes a folder of the archive, and its parents up to the archive folder, accessible to this user only.
 * @throws UserError `archive-folder` if something else is in its place, such as a link to another folder
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
