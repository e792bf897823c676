import { execFileSync } from 'node:child_process'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import Database from 'better-sqlite3'

const PAGE = 16_384

/**
 * Overwrites the last page of a table of a closed mirror.
 * @param isSilent keeps the time of the file, as a disk does that forgets
 */
export function spoilMirror(path: string, table: string, isSilent: boolean): void {
  const db = new Database(path, { readonly: true })
  const page = db.prepare<[string], number>('select max(pageno) from dbstat where name = ?').pluck().get(table)
  db.close()
  if (page === undefined) throw new Error(`${table} has no page`)
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true })
  const spoil = (): void => {
    const file = openSync(path, 'r+')
    writeSync(file, Buffer.alloc(PAGE, 0xa5), 0, PAGE, (page - 1) * PAGE)
    closeSync(file)
  }
  if (isSilent) inItsTime(path, spoil)
  else spoil()
}

/** Keeps the time of a file. Node can only set times in microseconds. */
export function inItsTime(path: string, act: () => void): void {
  const clock = `${path}.time`
  execFileSync('touch', ['-r', path, clock])
  act()
  execFileSync('touch', ['-r', clock, path])
  rmSync(clock)
}
