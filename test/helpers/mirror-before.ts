import { mkdtempSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { migrations } from '../../src/mirror/migrations/index.ts'

/** A mirror with one source in the state before a migration. The test closes and reopens it. */
export function mirrorBefore(migration: string): { readonly path: string; readonly db: Database.Database } {
  const path = join(mkdtempSync(join(homedir(), 'mirror-')), 'mirror.db')
  const db = new Database(path)
  const place = migrations.indexOf(migration)
  for (const sql of migrations.slice(0, place)) db.exec(sql)
  db.pragma(`user_version = ${place}`)
  db.exec(`insert into sources (num, id, kind, path, rank, state) values (1, 'source', 'rows', '/nowhere', 0, 'ok')`)
  return { path, db }
}
