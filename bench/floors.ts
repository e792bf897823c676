import { spawnSync } from 'node:child_process'
import Database from '../src/sqlite.ts'
import type { Part } from '../src/model/part.ts'
import { columnNames, searchColumns } from '../src/text/terms/columns.ts'

/** In the order of the rows in the file. Reading by the index on `key` takes longer. */
const CHAT_ROWS = `
select value from cursorDiskKV
where (+key >= 'bubbleId:' and +key < 'bubbleId;') or (+key >= 'composerData:' and +key < 'composerData;')
order by rowid
`
/** Messages in one transaction. */
const MESSAGES_MAX = 4000
const BODIES =
  'select key, parts from messages cross join bodies on bodies.num = body where is_shadowed = 0 order by key'

/** Reads and parses every row of a chat, and does nothing with it. @returns milliseconds */
export function readAndParse(storePath: string): number {
  const db = new Database(storePath, { readonly: true })
  const startedAtMs = performance.now()
  for (const value of db.prepare<[], string>(CHAT_ROWS).pluck().iterate()) JSON.parse(value)
  db.close()
  return performance.now() - startedAtMs
}

/** Inserts the texts of a mirror into a plain full-text table with the same settings. @returns milliseconds */
export function indexPlain(mirrorPath: string, path: string): number {
  const mirror = new Database(mirrorPath, { readonly: true })
  const db = new Database(path)
  for (const setting of ['page_size = 16384', 'journal_mode = wal', 'synchronous = normal', 'cache_size = -16000']) {
    db.pragma(setting)
  }
  db.exec(`create virtual table plain using fts5 (${columnNames.join(', ')}, content = '', contentless_delete = 1)`)
  for (const [name, value] of Object.entries({ pgsz: 16_000, hashsize: 33_554_432, automerge: 16 })) {
    db.exec(`insert into plain (plain, rank) values ('${name}', ${value})`)
  }
  const startedAtMs = performance.now()
  const insert = db.prepare(
    `insert into plain (rowid, ${columnNames.join(', ')}) values (?${', ?'.repeat(columnNames.length)})`,
  )
  let count = 0
  db.exec('begin')
  for (const { key, parts } of mirror.prepare<[], { key: number; parts: string }>(BODIES).iterate()) {
    insert.run(BigInt(key), ...textsOf(parts))
    count += 1
    if (count % MESSAGES_MAX === 0) db.exec('commit; begin')
  }
  db.exec('commit')
  db.close()
  mirror.close()
  return performance.now() - startedAtMs
}

function textsOf(parts: string): string[] {
  const columns = searchColumns(JSON.parse(parts) as Part[])
  return columnNames.map((name) => columns[name])
}

/**
 * Reads a file, so that the system caches it for the next measurement. The cache may not last: some virtual machines give
 * its memory back within a minute, and then a store of 1.5 GB is read from the disk again. A file system in memory
 * (`TMPDIR=/dev/shm`) avoids this.
 */
export const bringIntoMemory = (path: string): unknown => spawnSync('cat', [path], { stdio: 'ignore' })
