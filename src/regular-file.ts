import { closeSync, constants, fstatSync, openSync, readSync, statSync, type Stats } from 'node:fs'
import { UserError } from './model/user-error.ts'

/** A path that is not opened or not read: it is no regular file, or the file is too large. */
export class RefusedFile extends UserError {}

const KINDS = [
  ['isDirectory', 'a folder'],
  ['isFIFO', 'a pipe'],
  ['isSocket', 'a socket'],
] as const

function notAFile(path: string, stat: Stats): RefusedFile {
  const what = KINDS.find(([isIt]) => stat[isIt]())?.[1] ?? 'a device'
  return new RefusedFile('not-a-file', `${path} is ${what}, and not a file.`, 'Put a regular file in its place.')
}

/**
 * Call it before something else opens a path that it must not wait for: SQLite, or a call that writes.
 * @throws RefusedFile if something else than a regular file is there, or the path may not be examined
 */
export function requireRegular(path: string): void {
  let stat: Stats | undefined
  try {
    stat = statSync(path, { throwIfNoEntry: false })
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
    const hint = 'Check its name, its links and its permissions.'
    throw new RefusedFile('not-a-file', `${path} cannot be opened (${code}).`, hint, { cause })
  }
  if (stat?.isFile() === false) throw notAFile(path, stat)
}

// Windows has no such flag, and no pipes among its files.
const dontWait = 'O_NONBLOCK' in constants ? constants.O_NONBLOCK : 0

/**
 * Opens a regular file for one use. Opening a pipe would wait for its writer, and a device may never end.
 * @param flags of `open`, besides those for reading
 * @throws RefusedFile `not-a-file`; NodeJS.ErrnoException
 */
export function withRegular<Result>(path: string, use: (file: number, stat: Stats) => Result, flags = 0): Result {
  const file = openSync(path, constants.O_RDONLY | dontWait | flags)
  try {
    const stat = fstatSync(file)
    if (!stat.isFile()) throw notAFile(path, stat)
    return use(file, stat)
  } finally {
    closeSync(file)
  }
}

/**
 * The bytes of a regular file. No more are read than it had when it was opened.
 * @param bytesMax a larger file is refused
 * @throws RefusedFile `not-a-file` or `file-too-large`; NodeJS.ErrnoException
 */
export const readRegular = (path: string, bytesMax: number): Buffer =>
  withRegular(path, (file, { size }) => {
    if (size > bytesMax) {
      const text = `${path} has ${size} bytes, and may have ${bytesMax}.`
      throw new RefusedFile('file-too-large', text, 'Put a smaller file in its place.')
    }
    return readStart(file, size)
  })

/** The first bytes of an open file; fewer if it has no more. */
export function readStart(file: number, count: number, from = 0): Buffer {
  const bytes = Buffer.alloc(count)
  let done = 0
  for (let part = -1; part !== 0 && done < count; done += part) {
    part = readSync(file, bytes, done, count - done, from + done)
  }
  return bytes.subarray(0, done)
}
