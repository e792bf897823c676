import type { ChatId } from '../../model/ids.ts'
import type { Outline } from '../../model/thread.ts'
import { tellsFacts, type OwnRow } from '../write/batch.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'

export type OwnRowState = 'none' | 'live' | 'gone'

const WRITE_OUTLINE = `
insert into outlines (chat, source, entries, own_row) values (?, ?, ?, ?)
on conflict (chat, source) do update set entries = excluded.entries, own_row = excluded.own_row
where entries <> excluded.entries or own_row <> excluded.own_row
`
const WRITE_STATE = `
insert into outlines (chat, source, entries, own_row) values (?, ?, 'null', ?)
on conflict (chat, source) do update set own_row = excluded.own_row where own_row <> excluded.own_row
`

/**
 * Notes what a source says of the chat's own row. The order that was known outlives the row.
 * @returns whether it says anything new
 */
export function noteOwnRow(db: Mirror, chatNum: number, source: number, ownRow: OwnRow): boolean {
  if (ownRow.kind === 'unread') return false
  const state = ownRow.kind === 'gone' || ownRow.kind === 'remembered' ? 'gone' : 'live'
  const { changes } = tellsFacts(ownRow)
    ? prepared(db, WRITE_OUTLINE).run(chatNum, source, JSON.stringify(ownRow.outline), state)
    : prepared(db, WRITE_STATE).run(chatNum, source, state)
  return changes > 0
}

const LIST_STATES = `select source, own_row as state from outlines where chat = ?`

/** What became of the chat's own row, in every source that ever had one. */
export function readOwnRows(db: Mirror, chatNum: number): ReadonlyMap<number, OwnRowState> {
  const rows = prepared<{ source: number; state: OwnRowState }>(db, LIST_STATES).all(chatNum)
  return new Map(rows.map(({ source, state }) => [source, state]))
}

const READ_STATE = `
select own_row from outlines where chat = (select num from chats where id = ?) and source = ?
`

/** What became of the chat's own row in one source; `none` where that never had one. */
export const readOwnRow = (db: Mirror, id: ChatId, source: number): OwnRowState =>
  prepared<OwnRowState>(db, READ_STATE).pluck().get(id, source) ?? 'none'

const READ_OUTLINE = `select entries from outlines where chat = ? and source = ?`

/** The order in which a source shows a chat; null where it gives none, undefined where it never had a row of the chat's own. */
export function readOutline(db: Mirror, chatNum: number, source: number): Outline | undefined {
  const row = prepared<{ entries: string }>(db, READ_OUTLINE).get(chatNum, source)
  return row === undefined ? undefined : (JSON.parse(row.entries) as Outline)
}
