import type Database from 'better-sqlite3'
import { readJson } from '../cases.ts'
import { eraIn, type EraChat } from './workspace-items.ts'

/** A list's metadata of one chat, as far as a fixture sets it. */
export interface EraHead {
  readonly chatId: string
  readonly name: string | null
  readonly updatedAtMs: number | null
  readonly isArchived: boolean | null
  readonly isSubagent: boolean | null
  readonly parentChatId: string | null
}

/** The items that one era of Cursor stored beside the chats of the global store, and the expected result. */
export interface GlobalEra {
  readonly name: string
  readonly list: 'header-list' | 'header-table' | null
  readonly heads: readonly EraHead[]
  /** `<chat> <method> <root>`. */
  readonly evidence: readonly string[]
  /** Chats that the items themselves contain. */
  readonly chats: readonly EraChat[]
  /** Writes the items into a store with tables, replacing the former ones. */
  write(db: Database.Database): void
}

/** A word in items with secrets, which must not be read. */
const canary = 'canary-token-that-nobody-may-read'

export function putItem(db: Database.Database, key: string, value: unknown): void {
  const text = typeof value === 'string' || value === null || Buffer.isBuffer(value) ? value : JSON.stringify(value)
  db.prepare('insert or replace into ItemTable (key, value) values (?, ?)').run(key, text)
}

function putSecrets(db: Database.Database): void {
  for (const key of ['cursorAuth/accessToken', 'secret://mcp', 'composer.composerHeaders.secret', 'glass.token']) {
    putItem(db, key, canary)
  }
}

const tableOf39 = `
create table composerHeaders (composerId text primary key, workspaceId text, createdAt integer, lastUpdatedAt integer,
  isArchived integer, isSubagent integer, recency integer, checkpointAt integer, value text)
`
const tableOf319 = `
create table composerHeaders (value text, recency integer, composerId text primary key, subagentTypeName text,
  isSubagent integer, checkpointAt integer, lastUpdatedAt integer, createdAt integer, workspaceId text,
  isArchived integer)
`

export interface TableRow {
  readonly composerId: string
  readonly workspaceId?: string
  readonly createdAt?: number
  readonly lastUpdatedAt?: number
  readonly isArchived?: number
  readonly isSubagent?: number
  readonly recency?: number
  readonly subagentTypeName?: string
  readonly value?: unknown
}

export function putHeader(db: Database.Database, row: TableRow): void {
  const { value, ...columns } = row
  const named = { ...columns, value: value === undefined || Buffer.isBuffer(value) ? value : JSON.stringify(value) }
  const names = Object.entries(named).flatMap(([name, given]) => (given === undefined ? [] : [name]))
  const marks = names.map((name) => `@${name}`)
  db.prepare(`insert or replace into composerHeaders (${names.join(', ')}) values (${marks.join(', ')})`).run(named)
}

export function makeHeaderTable(db: Database.Database, version: '3.9' | '3.19'): void {
  db.exec('drop table if exists composerHeaders')
  db.exec(version === '3.9' ? tableOf39 : tableOf319)
}

interface Written extends Omit<GlobalEra, 'write'> {
  readonly table?: '3.9' | '3.19'
  readonly rows?: readonly TableRow[]
  readonly items?: Readonly<Record<string, unknown>>
}

const eraOf = ({ table, rows = [], items = {}, ...told }: Written): GlobalEra => ({
  ...told,
  write: (db) => {
    putSecrets(db)
    if (table !== undefined) makeHeaderTable(db, table)
    for (const [key, value] of Object.entries(items)) putItem(db, key, value)
    for (const row of rows) putHeader(db, row)
  },
})

export const globalEras: readonly GlobalEra[] = (readJson(import.meta.url, 'global-items.json') as Written[]).map(eraOf)

export const headerListOf30 = eraIn(globalEras, 'the list of 3.0')
/** A row without a time of its last change has the time by which it is sorted. */
export const headerTableOf39 = eraIn(globalEras, 'the table of 3.9')
/** The same table with another column order and one more column. */
export const headerTableOf319 = eraIn(globalEras, 'the table of 3.19')
/** The projects of the sidebar. */
export const agentProjects = eraIn(globalEras, 'the projects of 3.12')
/** Tabs of windows without a folder, under both keys. */
export const globalTabs = eraIn(globalEras, 'tabs in the global store')

/** Eras that have metadata of chats but contain no chats. */
export const listEras: readonly GlobalEra[] = [headerListOf30, headerTableOf39, headerTableOf319, agentProjects]
