import type { Outline } from '../model/thread.ts'
import type { Mirror } from './open.ts'
import { prepared } from './prepared.ts'

const READ_OUTLINE = `select entries from outlines where chat = ? and source = ?`
const WRITE_OUTLINE = `
insert into outlines (chat, source, entries) values (?, ?, ?)
on conflict (chat, source) do update set entries = excluded.entries where entries <> excluded.entries
`

export function writeOutline(db: Mirror, chatNum: number, source: number, outline: Outline): void {
  prepared(db, WRITE_OUTLINE).run(chatNum, source, JSON.stringify(outline))
}

/** The order in which a source shows a chat; null where it gives none. */
export function readOutline(db: Mirror, chatNum: number, source: number): Outline {
  const row = prepared<{ entries: string }>(db, READ_OUTLINE).get(chatNum, source)
  return row === undefined ? null : (JSON.parse(row.entries) as Outline)
}
