import { rmSync, statSync, writeFileSync } from 'node:fs'
import { readRegular, requireRegular } from '../../regular-file.ts'
import { hasSoundPages, indexPath, removeIndex } from '../index/index-file.ts'
import { indexDamaged, isDamage, isOfIndex } from './find-damage.ts'

/** The file beside the mirror with its sizes and times, or with the word `damaged`. */
const markOf = (path: string): string => `${path}-clean`

/**
 * `clean`: the mirror was sound, was closed in order, and is as its last writer left it. `damaged`: an error of its last
 * reader or writer meant damage. `unknown`: a crash left it behind, or somebody wrote to it since.
 */
type MirrorState = 'clean' | 'damaged' | 'unknown'

export function readMark(path: string): MirrorState {
  try {
    const noted = readRegular(markOf(path), 1024).toString()
    return noted === 'damaged' ? 'damaged' : noted === stateOf(path) ? 'clean' : 'unknown'
  } catch {
    return 'unknown'
  }
}

/** Takes the mark away before the mirror is opened for writing, durably: a crash from now on must not leave it behind. */
export function takeMark(path: string): MirrorState {
  const state = readMark(path)
  try {
    // An empty file is no mark. It is synced, because the removal of a name is not durable by itself.
    write(markOf(path), '')
    rmSync(markOf(path), { force: true })
    return state
  } catch {
    return 'unknown'
  }
}

/** `clean`: after the last write, when nobody has it open for writing. `damaged`: at once, and it stays until it is taken. */
export function leaveMark(path: string, state: 'clean' | 'damaged'): void {
  if (state === 'clean' && readMark(path) === 'damaged') return
  try {
    write(markOf(path), state === 'clean' ? stateOf(path) : state)
  } catch {
    // Without a mark the next start checks the mirror first.
    rmSync(markOf(path), { force: true })
  }
}

/**
 * After the error of a reader: the next writer makes a damaged index anew, or replaces a damaged mirror.
 * @returns the error for a person
 */
export function noteIfDamaged(path: string, error: unknown): unknown {
  if (isOfIndex(error) || (isDamage(error) && !hasSoundPages(indexPath(path)))) {
    removeIndex(indexPath(path))
    return indexDamaged(error)
  }
  if (isDamage(error)) leaveMark(path, 'damaged')
  return error
}

/** Durably. */
function write(file: string, text: string): void {
  requireRegular(file)
  writeFileSync(file, text, { mode: 0o600, flush: true })
}

/** Uses only `stat`: another plain file call could drop SQLite's locks. */
const stateOf = (path: string): string =>
  [path, `${path}-wal`].map((file) => describe(statSync(file, { bigint: true, throwIfNoEntry: false }))).join('\n')

const describe = (stat: { readonly size: bigint; readonly mtimeNs: bigint } | undefined): string =>
  stat === undefined || stat.size === 0n ? '-' : `${stat.size} ${stat.mtimeNs}`
