import { readFileSync, renameSync } from 'node:fs'
import Database from 'better-sqlite3'
import { FORMER_NAMES } from '../../src/mirror/schema.ts'

const OLDEST_SCHEMA = readFileSync(new URL('../data/schema-22.sql', import.meta.url), 'utf8')

const newNames = new Map(Object.entries(FORMER_NAMES).map(([name, former]) => [former, name]))

interface Made {
  readonly name: string
  readonly sql: string
}

const listMade = (db: Database.Database, type: 'table' | 'trigger'): Made[] =>
  db.prepare<[string], Made>('select name, sql from main.sqlite_schema where type = ? and sql is not null').all(type)

const columnsOf = (db: Database.Database, schema: string, table: string): string[] =>
  db.prepare<[string, string], string>('select name from pragma_table_info(?, ?)').pluck().all(table, schema)

/** Turns a closed mirror into one of the oldest schema that is upgraded, with all of its rows that this schema had. */
export function turnBack(path: string): void {
  const older = `${path}.older`
  const db = new Database(older)
  db.pragma('page_size = 16384')
  db.unsafeMode()
  db.exec(OLDEST_SCHEMA)
  db.prepare('attach database ? as newer').run(path)
  db.pragma('foreign_keys = off')
  // What triggers keep is copied too.
  const triggers = listMade(db, 'trigger')
  for (const { name } of triggers) db.exec(`drop trigger ${name}`)
  for (const { name, sql } of listMade(db, 'table')) {
    if (/^create virtual/i.test(sql)) continue
    const newer = newNames.get(name) ?? name
    const known = new Set(columnsOf(db, 'newer', newer))
    const columns = columnsOf(db, 'main', name).filter((column) => known.has(column))
    if (columns.length === 0) continue
    db.exec(`delete from main."${name}"`)
    db.exec(`insert into main."${name}" (${columns.join(', ')}) select ${columns.join(', ')} from newer."${newer}"`)
  }
  // An older program had an older decoder: what it did not know is read again.
  db.exec('update sources set decoder = 0')
  for (const { sql } of triggers) db.exec(sql)
  db.exec('detach database newer')
  db.close()
  renameSync(older, path)
}
