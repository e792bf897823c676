import { chmodSync, closeSync, existsSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

const NAME = /^mirror-damaged-[\w-]+\.db$/
/** The main file last: while it has its old name, the move can be finished. */
const SUFFIXES = ['-shm', '-wal', '']
/** An empty file with this suffix exists while the files are moved. */
const MOVING = '-moving'

/**
 * Gives a damaged mirror, its WAL and its WAL index a name with the date, in the same folder. Their contents do not
 * change. No connection may have the mirror open.
 * @returns its new path
 */
export function setAside(path: string, nowMs: number): string {
  const stamp = new Date(nowMs).toISOString().replace(/\.\d+/, '').replaceAll(':', '')
  const taken = new Set(readdirSync(dirname(path)))
  const names = [`mirror-damaged-${stamp}.db`]
  for (let again = 2; taken.has(names.at(-1) ?? ''); again += 1) names.push(`mirror-damaged-${stamp}-${again}.db`)
  const aside = join(dirname(path), names.at(-1) ?? '')
  closeSync(openSync(aside + MOVING, 'w', 0o600))
  finishMove(path, aside)
  return aside
}

/**
 * Finishes what a killed process began: a mirror must never be opened without its WAL. A WAL alone is no sign of a move:
 * a person may have deleted the damaged file beside it.
 */
export function finishSettingAside(path: string): void {
  const folder = dirname(path)
  if (!existsSync(folder)) return
  for (const name of readdirSync(folder)) {
    if (!name.endsWith(MOVING)) continue
    const aside = name.slice(0, -MOVING.length)
    if (NAME.test(aside)) finishMove(path, join(folder, aside))
  }
}

/** The names of the files that were set aside, the newest first. */
export function listSetAside(path: string): string[] {
  return readdirSync(dirname(path))
    .filter((name) => NAME.test(name))
    .sort()
    .reverse()
}

/** Removes a file that was set aside, with its WAL and its WAL index. */
export function dropSetAside(path: string, file: string): void {
  for (const suffix of SUFFIXES) rmSync(nextTo(path, file) + suffix, { force: true })
}

export const nextTo = (path: string, file: string): string => join(dirname(path), basename(file))

function finishMove(from: string, to: string): void {
  for (const suffix of SUFFIXES) {
    if (!existsSync(from + suffix)) continue
    if (process.platform !== 'win32') chmodSync(from + suffix, 0o600)
    renameSync(from + suffix, to + suffix)
  }
  rmSync(to + MOVING, { force: true })
}
