import type Database from 'better-sqlite3'
import { tryRead } from '../../open-safely/read-portion.ts'
import { prepared } from '../../../mirror/prepared.ts'
import { tabKeys } from '../records/chat/decode-tabs.ts'

/**
 * The items that are read, by exact name. The table also contains tokens, keys and settings, so nothing in it is ever
 * selected by a pattern.
 */
export const LIST_KEY = 'composer.composerHeaders'
export const PROJECTS_KEY = 'glass.localAgentProjects.v1'
export const MEMBERSHIP_KEY = 'glass.localAgentProjectMembership.v1'
const listKeys: readonly string[] = [LIST_KEY, PROJECTS_KEY, MEMBERSHIP_KEY]
export const itemKeys: readonly string[] = [...listKeys, ...tabKeys]

/** Larger values are not read. */
export const VALUE_OCTETS_MAX = 32 * 1024 * 1024
const PAGE_ROWS = 500

/** An item table without rowids is unknown. */
const FIND_TABLES = `
select name from sqlite_master
where (name = 'ItemTable' and type = 'table' and sql not like '%without%rowid%')
  or (name = 'composerHeaders' and type in ('table', 'view'))
`
const LIST_COLUMNS = `select name from pragma_table_info('composerHeaders')`

/** The columns of the table of heads that are read. Which exist, and in which order, differs by version. */
const headerColumns = [
  'composerId',
  'workspaceId',
  'createdAt',
  'lastUpdatedAt',
  'isArchived',
  'isSubagent',
  'recency',
  'value',
] as const
type HeaderColumn = (typeof headerColumns)[number]

export interface Layout {
  readonly hasItems: boolean
  /** Null if there is no table of heads. */
  readonly columns: ReadonlySet<HeaderColumn> | null
  /** Why the store cannot be read; null if it can. */
  readonly trouble: string | null
}

export function findLayout(db: Database.Database): Layout {
  const tables = prepared<{ name: string }>(db, FIND_TABLES).all()
  const encoding = String(db.pragma('encoding', { simple: true }))
  return {
    hasItems: tables.some(({ name }) => name === 'ItemTable'),
    columns: tables.some(({ name }) => name === 'composerHeaders') ? findColumns(db) : null,
    trouble: encoding === 'UTF-8' ? null : `Its text is ${encoding}, not UTF-8.`,
  }
}

/** SQLite ignores the case of names. */
function findColumns(db: Database.Database): ReadonlySet<HeaderColumn> {
  const names = new Set(
    prepared<{ name: string }>(db, LIST_COLUMNS)
      .all()
      .map(({ name }) => name.toLowerCase()),
  )
  return new Set(headerColumns.filter((column) => names.has(column.toLowerCase())))
}

const GLANCE_AT_ITEM = `select rowid, octet_length(value) as octets from ItemTable where key = ?`
const glanceAtTable = (columns: ReadonlySet<HeaderColumn>): string => `
select count(*) as count, ${ifThere(columns, 'lastUpdatedAt', 'max(lastUpdatedAt)')} as updated,
  ${ifThere(columns, 'recency', 'max(recency)')} as recency,
  ${ifThere(columns, 'value', 'sum(octet_length(value))')} as octets
from composerHeaders
`
const ifThere = (columns: ReadonlySet<HeaderColumn>, column: HeaderColumn, sql: string): string =>
  columns.has(column) ? sql : 'null'

/**
 * What can be seen of the rows without reading a value. If two glances are equal, there is probably nothing to read.
 * Tabs are separate: the lists change with every chat, while tabs are larger and rarely change.
 */
export interface Glance {
  readonly lists: string
  readonly tabs: string
  /** The keys of the existing items with tabs. */
  readonly heldTabs: readonly string[]
}

export function glance(db: Database.Database, { hasItems, columns }: Layout): Glance {
  const glanceAt = (key: string) =>
    hasItems ? tryRead(() => prepared<{ octets: number | null }>(db, GLANCE_AT_ITEM).get(key)) : { value: undefined }
  const table = columns === null ? null : tryRead(() => prepared(db, glanceAtTable(columns)).get())
  const tabs = tabKeys.map((key) => ({ key, seen: glanceAt(key) }))
  // An item on a damaged page exists too.
  const isThere = ({ seen }: (typeof tabs)[number]): boolean => seen === null || typeof seen.value?.octets === 'number'
  return {
    lists: JSON.stringify([listKeys.map(glanceAt), table]),
    tabs: JSON.stringify(tabs),
    heldTabs: tabs.filter(isThere).map(({ key }) => key),
  }
}

const READ_ITEM = `
select octet_length(value) as octets,
  case when octet_length(value) <= ${VALUE_OCTETS_MAX} then cast(value as blob) end as value
from ItemTable where key = ? and value is not null
`

/** `value` is null if it is too large, or its page is damaged. */
export interface RawItem {
  readonly key: string
  readonly octets: number
  readonly value: Buffer | null
  readonly isDamaged: boolean
}

/** Null if there is no such item. NULL means the same: that is how Cursor deletes. */
export function readItem(db: Database.Database, key: string): RawItem | null {
  const read = tryRead(() => prepared<{ octets: number; value: Buffer | null }>(db, READ_ITEM).get(key))
  if (read === null) return { key, octets: 0, value: null, isDamaged: true }
  return read.value === undefined ? null : { key, ...read.value, isDamaged: false }
}

const readHeaders = (columns: ReadonlySet<HeaderColumn>): string => `
select ${headerColumns
  .filter((column) => column !== 'value')
  .map((column) => `${ifThere(columns, column, column)} as ${column}`)
  .join(', ')},
  ${ifThere(columns, 'value', 'coalesce(octet_length(value), 0)')} as octets,
  ${ifThere(columns, 'value', `case when octet_length(value) <= ${VALUE_OCTETS_MAX} then cast(value as blob) end`)} as value
from composerHeaders ${columns.has('composerId') ? 'order by composerId' : ''}
limit ${PAGE_ROWS} offset ?
`

/** Null if the column is missing. The others can have any value. */
export interface HeaderRow {
  readonly composerId: unknown
  /** The id of a workspace and nothing else. */
  readonly workspaceId: unknown
  readonly createdAt: unknown
  readonly lastUpdatedAt: unknown
  readonly isArchived: unknown
  readonly isSubagent: unknown
  readonly recency: unknown
  readonly octets: number
  /** Null if the column is NULL, or the value too large; `octets` distinguishes the two. */
  readonly value: Buffer | null
}

export interface HeaderRows {
  readonly rows: readonly HeaderRow[]
  readonly isDamaged: boolean
}

/** One page of the table of heads. Changes between two pages show at the next look. */
export function readHeaderPage(db: Database.Database, columns: ReadonlySet<HeaderColumn>, offset: number): HeaderRows {
  const read = tryRead(() => prepared<HeaderRow>(db, readHeaders(columns)).all(offset))
  if (read === null) return { rows: [], isDamaged: true }
  return { rows: read.value.map((row) => ({ ...row, octets: row.octets ?? 0 })), isDamaged: false }
}

export const isLastPage = ({ rows }: HeaderRows): boolean => rows.length < PAGE_ROWS
