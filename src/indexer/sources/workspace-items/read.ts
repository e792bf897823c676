import { readFileSync } from 'node:fs'
import type Database from 'better-sqlite3'
import { prepared } from '../../../mirror/prepared.ts'

const HAS_TABLE = `select 1 from sqlite_master where type = 'table' and name = 'ItemTable'`

/** One value, by its exact key: the table also holds what must never be read. */
const READ_HEADS = `
select cast(value as blob) as value from ItemTable
where key = 'composer.composerData' and octet_length(value) <= 33554432
`

/** The list of chats that a workspace kept of itself, as it stands; null where there is none. */
export function readHeads(db: Database.Database): Buffer | null {
  if (prepared(db, HAS_TABLE).get() === undefined) return null
  return prepared<{ value: Buffer | null }>(db, READ_HEADS).get()?.value ?? null
}

/** `workspace.json` beside the store; null where it is missing, as it is for a window without a folder. */
export function readWorkspaceJson(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}
