import type Database from 'better-sqlite3'
import { prepared } from '../../../mirror/sql.ts'
import { hasKnownTable } from '../records/read-table.ts'
import { tabKeys } from '../records/chat.ts'

/**
 * The items that are read, by exact name. The table also contains tokens, keys and settings, so nothing in it is ever
 * selected by a pattern, but for the panes of a workspace's window.
 */
export const LIST_KEY = 'composer.composerHeaders'
export const PROJECTS_KEY = 'glass.localAgentProjects.v1'
export const MEMBERSHIP_KEY = 'glass.localAgentProjectMembership.v1'
export const COMPOSERS_KEY = 'composer.composerData'
export const PROMPTS_KEY = 'aiService.prompts'
const PANE_KEY = 'workbench.panel.composerChatViewPane'

const globalKeys: readonly string[] = [LIST_KEY, PROJECTS_KEY, MEMBERSHIP_KEY, ...tabKeys]
const workspaceKeys: readonly string[] = [...tabKeys, COMPOSERS_KEY, PANE_KEY, PROMPTS_KEY]

/** Larger values are not read. */
export const VALUE_OCTETS_MAX = 32 * 1024 * 1024
const PAGE_ROWS = 500

/** `/` is the character after `.`. Keys that end in `.hidden` name views that a pane hides, and no chats. */
const LIST_PANES = `
select key from ItemTable
where key > 'workbench.panel.composerChatViewPane.' and key < 'workbench.panel.composerChatViewPane/'
  and substr(key, -7) <> '.hidden'
`

const LIST_COLUMNS = `select lower(name) from pragma_table_info('composerHeaders')`

export interface Layout {
  /** The keys of the items to read in this store. They need not exist. */
  readonly items: readonly string[]
  /** The query for a page of the table of heads; null if it has none. */
  readonly heads: string | null
}

/**
 * A workspace's store has items of its own, and no table of heads.
 * @throws UnknownLayout if a table is in an unknown form
 */
export function findLayout(db: Database.Database, isGlobal: boolean): Layout {
  const keys = isGlobal ? globalKeys : workspaceKeys
  const hasItems = hasKnownTable(db, 'ItemTable', ['key', 'value'], 'key')
  const panes = hasItems && !isGlobal ? prepared<string>(db, LIST_PANES).pluck().all() : []
  const hasHeads = isGlobal && hasKnownTable(db, 'composerHeaders', [], 'key')
  return {
    items: hasItems ? [...keys, ...panes] : [],
    heads: hasHeads ? headsQuery(prepared<string>(db, LIST_COLUMNS).pluck().all()) : null,
  }
}

const UP_TO_MAX = `case when octet_length(value) <= ${VALUE_OCTETS_MAX} then cast(value as blob) end as value`
const READ_ITEM = `
select octet_length(value) as octets, ${UP_TO_MAX} from ItemTable where key = ? and value is not null
`

/** An item as it was read. `value` is null if it is too large. */
export interface RawItem {
  readonly key: string
  readonly octets: number
  readonly value: Buffer | null
}

/** Null if the store has no such row. NULL means the same: that is how Cursor deletes. */
export function readItem(db: Database.Database, key: string): RawItem | null {
  const row = prepared<Omit<RawItem, 'key'>>(db, READ_ITEM).get(key)
  return row === undefined ? null : { key, ...row }
}

/** The columns of the table of heads. Which exist, and in which order, differs by version. */
const headColumns = [
  'composerId',
  'workspaceId',
  'createdAt',
  'lastUpdatedAt',
  'isArchived',
  'isSubagent',
  'recency',
] as const

/** @param there the names of the existing columns. SQLite ignores their case */
function headsQuery(there: readonly string[]): string {
  const columns = headColumns.map((name) => (there.includes(name.toLowerCase()) ? name : `null as ${name}`))
  const value = there.includes('value')
    ? `coalesce(octet_length(value), 0) as octets, ${UP_TO_MAX}`
    : '0 as octets, null as value'
  const order = there.includes('composerid') ? 'order by composerId' : ''
  return `select ${columns.join(', ')}, ${value} from composerHeaders ${order} limit ${PAGE_ROWS} offset ?`
}

/** Null if the column is missing. Any column can have any value. `workspaceId` is the id of a workspace and nothing else. */
export type HeadRow = Readonly<Record<(typeof headColumns)[number], unknown>> & {
  readonly octets: number
  /** Null if the column is NULL, or the value too large; `octets` distinguishes the two. */
  readonly value: Buffer | null
}

/** One page of the table of heads; null after the last one. Changes between two pages show at the next look. */
export function readHeads(db: Database.Database, query: string, offset: number): readonly HeadRow[] | null {
  const rows = prepared<HeadRow>(db, query).all(offset)
  return rows.length === 0 ? null : rows
}
