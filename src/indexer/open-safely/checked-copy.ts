import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from '../../mirror/damage/find-damage.ts'
import Database from '../../sqlite.ts'
import { readStart, requireRegular, withRegular } from '../../regular-file.ts'
import type { ClosedFile } from './cursor-file.ts'

const COPY_BYTES_MAX = 2 * 1024 ** 3
const COPY_EVERY_MS = 600_000
const TRIES = 5
/** Disk space that must stay free beside the copy, because the mirror grows too. */
const SPARE_BYTES = 256 * 1024 ** 2

/** A copy of a database and its WAL, both from the same moment. */
type CheckedCopy = NonNullable<ReturnType<typeof copyOnce>>

let copiesFolder: string | null = null
const copies = new Map<string, CheckedCopy>()
const copiedAtMs = new Map<string, number>()

/**
 * Sets the folder for copies. It is ours, and is emptied of what a killed process left. Without it no file is copied.
 */
export function keepCopiesIn(folder: string): void {
  copiesFolder = folder
  removeCopies()
}

/** Call this when nobody reads the copies any more. */
export function removeCopies(): void {
  copies.clear()
  if (copiesFolder !== null) rmSync(copiesFolder, { recursive: true, force: true })
}

/**
 * Copies a file on a network mount, to be read instead of the original: our locks do not reach Cursor there, nor
 * Cursor's us. The copy counts only if the file was the same before and after, and if SQLite finds it sound. Copying
 * costs as much as the file is large, so it happens at most every ten minutes. In between, callers get the existing
 * copy as long as the file is unchanged.
 */
export function takeCheckedCopy(path: string, mount: string): CheckedCopy | ClosedFile {
  const existing = copies.get(path)
  if (existing !== undefined && existing.state === stateOf(path)) return existing
  if (existing !== undefined) rmSync(existing.folder, { recursive: true, force: true })
  copies.delete(path)
  const waitMs = (copiedAtMs.get(path) ?? -Infinity) + COPY_EVERY_MS - performance.now()
  if (waitMs > 0) {
    const minutes = Math.ceil(waitMs / 60_000)
    return none(
      'busy',
      `The file is on a ${mount} mount and is copied every ten minutes. The next copy is in ${minutes} min.`,
    )
  }
  const folder = copiesFolder
  if (folder === null) {
    return none('refused', `The file is on a ${mount} mount, where Cursor cannot see our locks: ${ADVICE}.`)
  }
  const reason = refusal(path, mount, folder)
  if (reason !== null) return none('refused', reason)
  copiedAtMs.set(path, performance.now())
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (let tries = 0; tries < TRIES; tries += 1) {
    const copy = copyOnce(path, mkdtempSync(join(folder, 'copy-')))
    if (copy === null) continue
    copies.set(path, copy)
    return copy
  }
  return none('busy', `The file is on a ${mount} mount, and Cursor wrote to it during every attempt to copy it.`)
}

const none = (state: 'busy' | 'refused', detail: string): ClosedFile => ({ kind: 'closed', state, detail })

const ADVICE = 'run cursordex on the machine that runs Cursor'

/** @param folder target folder of the copy */
function refusal(path: string, mount: string, folder: string): string | null {
  const bytes = sizeOf(path) + sizeOf(`${path}-wal`)
  if (bytes > COPY_BYTES_MAX) {
    const size = (bytes / 1024 ** 3).toFixed(1)
    return `The file is on a ${mount} mount, where Cursor cannot see our locks, and with ${size} GB it is too large to be copied: ${ADVICE}.`
  }
  const { bavail, bsize } = statfsSync(join(folder, '..'))
  if (bavail * bsize >= bytes + SPARE_BYTES) return null
  return `The file is on a ${mount} mount, where Cursor cannot see our locks, and the disk has no space for a copy: free some space, or ${ADVICE}.`
}

/** With the state of the original when it was copied. Null if that changed in the meantime, or the copy is not sound. */
function copyOnce(path: string, folder: string) {
  const copy = join(folder, 'store.db')
  try {
    const before = stateOf(path)
    if (before !== null) {
      for (const end of ['', '-wal']) requireRegular(path + end)
      copyFileSync(path, copy)
      // The `-shm` index is not copied: it belongs to processes on the other side, and SQLite makes its own.
      if (existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${copy}-wal`)
      if (stateOf(path) === before && isSound(copy)) {
        const bytes = sizeOf(copy) + sizeOf(`${copy}-wal`)
        return { kind: 'copy' as const, path: copy, bytes, state: before, folder }
      }
    }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    // The file was deleted after it was found.
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
  rmSync(folder, { recursive: true, force: true })
  return null
}

function isSound(copy: string): boolean {
  const db = new Database(copy)
  try {
    return db.pragma('quick_check(1)', { simple: true }) === 'ok'
  } catch {
    return false
  } finally {
    db.close()
  }
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/**
 * Sizes and times of file and WAL; the head of the WAL, which changes when the WAL restarts; and the change counter in
 * the head of the file. Null if there is no file, or if a transaction is being written through a rollback journal.
 */
function stateOf(path: string): string | null {
  const parts = [path, `${path}-wal`].map((name) => {
    const stat = statSync(name, { bigint: true, throwIfNoEntry: false })
    return stat === undefined ? null : `${stat.size}:${stat.mtimeNs}`
  })
  if (parts[0] === null || sizeOf(`${path}-journal`) > 0) return null
  const counter = readBytes(path, 24, 4)
  return [...parts, counter, parts[1] === null ? '' : readBytes(`${path}-wal`, 0, 32)].join(' ')
}

const readBytes = (path: string, from: number, count: number): string =>
  withRegular(path, (file) => readStart(file, count, from).toString('hex'))
