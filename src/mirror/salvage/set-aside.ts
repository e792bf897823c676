import { chmodSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

const NAME = /^mirror-damaged-[\w-]+\.db$/
/** The main file last: while it has its old name, what was begun can be ended. */
const SUFFIXES = ['-shm', '-wal', '']

/**
 * Gives a damaged mirror and what SQLite keeps beside it a name with the date, in the same folder. Nothing in it is
 * changed. No connection may have it open.
 * @returns its new path
 */
export function setAside(path: string, nowMs: number): string {
  const stamp = new Date(nowMs).toISOString().replace(/\.\d+/, '').replaceAll(':', '')
  const taken = new Set(readdirSync(dirname(path)))
  const names = [`mirror-damaged-${stamp}.db`]
  for (let again = 2; taken.has(names.at(-1) ?? ''); again += 1) names.push(`mirror-damaged-${stamp}-${again}.db`)
  const aside = join(dirname(path), names.at(-1) ?? '')
  move(path, aside)
  return aside
}

/** Ends what a killed process began: a mirror must never be opened without its WAL. */
export function finishSettingAside(path: string): void {
  const folder = dirname(path)
  if (!existsSync(folder)) return
  const begun = readdirSync(folder).flatMap((name) => /^(.*)-(?:wal|shm)$/.exec(name)?.[1] ?? [])
  for (const name of begun) {
    if (NAME.test(name) && !existsSync(join(folder, name)) && existsSync(path)) move(path, join(folder, name))
  }
}

/** The files that were set aside, the newest first. */
export function listSetAside(path: string): string[] {
  return readdirSync(dirname(path))
    .filter((name) => NAME.test(name))
    .sort()
    .reverse()
}

/** Removes a file that was set aside, with what lies beside it. */
export function dropSetAside(path: string, file: string): void {
  for (const suffix of SUFFIXES) rmSync(nextTo(path, file) + suffix, { force: true })
}

export const nextTo = (path: string, file: string): string => join(dirname(path), basename(file))

function move(from: string, to: string): void {
  for (const suffix of SUFFIXES) {
    if (!existsSync(from + suffix)) continue
    if (process.platform !== 'win32') chmodSync(from + suffix, 0o600)
    renameSync(from + suffix, to + suffix)
  }
}
