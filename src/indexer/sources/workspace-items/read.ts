import type Database from 'better-sqlite3'
import { prepared } from '../../../mirror/prepared.ts'
import { tabKeys } from '../records/chat/decode-tabs.ts'

/** An item as it was read. `value` is null if it is larger than 32 MB. */
export interface RawItem {
  readonly key: string
  readonly octets: number
  readonly value: Buffer | null
}

const LIST_TABLES = `
select name from sqlite_master where type = 'table' and name in ('ItemTable', 'cursorDiskKV')
`

/** `/` is the character after `.`. Keys that end in `.hidden` name views that a pane hides, and no chats. */
const LIST_PANES = `
select key from ItemTable
where key > 'workbench.panel.composerChatViewPane.' and key < 'workbench.panel.composerChatViewPane/'
  and substr(key, -7) <> '.hidden'
`

/** No store is known to have any. The limit protects against a store of another kind. */
const LIST_CHAT_ROWS = `
select key from cursorDiskKV where key > 'composerData:' and key < 'composerData;' order by key limit 1000
`

const READ_ITEM = `
select octet_length(value) as octets, case when octet_length(value) <= 33554432 then cast(value as blob) end as value
from ItemTable where key = ? and value is not null
`

const READ_CHAT_ROW = `
select octet_length(value) as octets, case when octet_length(value) <= 33554432 then cast(value as blob) end as value
from cursorDiskKV where key = ? and value is not null
`

/** A row to read, by its table and its exact key. */
export interface ItemRef {
  readonly table: 'items' | 'chat-rows'
  readonly key: string
}

/** The rows to read in this store. The items in the list need not exist. */
export function listItems(db: Database.Database): ItemRef[] {
  const tables = new Set(prepared<string>(db, LIST_TABLES).pluck().all())
  const items = tables.has('ItemTable') ? [...itemKeys, ...prepared<string>(db, LIST_PANES).pluck().all()] : []
  const chatRows = tables.has('cursorDiskKV') ? prepared<string>(db, LIST_CHAT_ROWS).pluck().all() : []
  return [
    ...items.map((key) => ({ table: 'items' as const, key })),
    ...chatRows.map((key) => ({ table: 'chat-rows' as const, key })),
  ]
}

/** Null if the store has no such row. NULL means the same: that is how Cursor deletes. */
export function readItem(db: Database.Database, { table, key }: ItemRef): RawItem | null {
  const sql = table === 'items' ? READ_ITEM : READ_CHAT_ROW
  const row = prepared<Omit<RawItem, 'key'>>(db, sql).get(key)
  return row === undefined ? null : { key, ...row }
}

/**
 * The items that are read, by exact name. The table also contains tokens, keys and settings, so nothing in it is ever
 * selected by a pattern.
 */
export const COMPOSERS_KEY = 'composer.composerData'
const PANE_KEY = 'workbench.panel.composerChatViewPane'
export const PROMPTS_KEY = 'aiService.prompts'

export const itemKeys: readonly string[] = [...tabKeys, COMPOSERS_KEY, PANE_KEY, PROMPTS_KEY]

/** The prefix of chats in the other table, as in the global store. */
export const CHAT_ROW_PREFIX = 'composerData:'
