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
 * Saves what a source reports of the chat's own row. The known order stays when the row is gone.
 * @returns whether anything changed
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

/** State of the chat's own row in every source that ever had one. */
export function readOwnRows(db: Mirror, chatNum: number): ReadonlyMap<number, OwnRowState> {
  const rows = prepared<{ source: number; state: OwnRowState }>(db, LIST_STATES).all(chatNum)
  return new Map(rows.map(({ source, state }) => [source, state]))
}

const READ_STATE = `
select own_row from outlines where chat = (select num from chats where id = ?) and source = ?
`

/** State of the chat's own row in one source; `none` if the source never had one. */
export const readOwnRow = (db: Mirror, id: ChatId, source: number): OwnRowState =>
  prepared<OwnRowState>(db, READ_STATE).pluck().get(id, source) ?? 'none'

const READ_OUTLINE = `select entries from outlines where chat = ? and source = ?`

/** A source's order of a chat; null if it gives none, undefined if it never had the chat's own row. */
export function readOutline(db: Mirror, chatNum: number, source: number): Outline | undefined {
  const row = prepared<{ entries: string }>(db, READ_OUTLINE).get(chatNum, source)
  return row === undefined ? undefined : (JSON.parse(row.entries) as Outline)
}
