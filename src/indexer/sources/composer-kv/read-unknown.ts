import type Database from 'better-sqlite3'
import { prepared } from '../../../mirror/sql.ts'
import type { SourceState } from '../../../model/source.ts'
import { endedBy, openCursorFile } from '../../open-safely/cursor-file.ts'

/** The keys of every other kind of row that was ever seen beside chats, by their start. None of them is a chat. */
const KNOWN_STARTS = [
  'agentKv:',
  'ai_accepted_diffs.',
  'ai_hashes.',
  'bcCachedDetails:',
  'bubbleId:',
  'checkpointId:',
  'cloudAgentDraft:',
  'codeBlockDiff:',
  'codeBlockPartialInlineDiffFates:',
  'composer.autoAccept.lastSeenHead',
  'composer.composerHeaders.',
  'composer.content.',
  'composerData:',
  'composerVirtualRowHeights:',
  'expectedContent-',
  'inlineDiff',
  'messageRequestContext:',
  'ofsContent:',
  'patch-graph:',
] as const
const KNOWN_TABLES: ReadonlySet<string> = new Set(['cursorDiskKV', 'ItemTable', 'composerHeaders'])

/** Rows that no source reads and that this version does not know. No value of them is read. */
export interface UnknownRows {
  readonly table: string
  /** How their keys begin, without ids; null for a whole table. `<id>` if the start itself may be data of the user. */
  readonly start: string | null
  readonly rows: number
}

const LIST_TABLES = `select name from sqlite_master where type = 'table' and rootpage > 0 and name not glob 'sqlite_*' order by name`
/** Keys from the index alone, some thousand in a millisecond. */
const LIST_KEYS = `select cast(substr(key, 1, 200) as text) as key from cursorDiskKV where key > ? order by key limit ?`
const PAGE = 5000

/** What a look at a store finds that reads no value. */
export interface StoreLook {
  readonly state: SourceState
  readonly detail: string | null
  /** The most rows first. */
  readonly unknown: readonly UnknownRows[]
}

export function lookAtStore(path: string): StoreLook {
  const file = openCursorFile(path)
  if (file.kind === 'closed') return { state: file.state, detail: file.detail, unknown: [] }
  const counts = new Map<string, number>()
  try {
    const tables = file.read((db) => prepared<{ name: string }>(db, LIST_TABLES).all()).map(({ name }) => name)
    for (let after: string | undefined = tables.includes('cursorDiskKV') ? '' : undefined; after !== undefined;) {
      const from: string = after
      const page = file.read((db) => prepared<{ key: string | null }>(db, LIST_KEYS).all(from, PAGE))
      for (const { key } of page)
        if (key !== null && !isKnown(key)) counts.set(startOf(key), (counts.get(startOf(key)) ?? 0) + 1)
      after = page.length < PAGE ? undefined : (page.at(-1)?.key ?? undefined)
    }
    const ofKeys = [...counts].map(([start, rows]) => ({ table: 'cursorDiskKV', start, rows }))
    const ofTables = tables
      .filter((name) => !KNOWN_TABLES.has(name))
      .map((name) => ({ table: named(name), start: null, rows: file.read((db) => countTable(db, name)) }))
    const unknown = [...ofKeys, ...ofTables].toSorted((one, other) => other.rows - one.rows)
    return { state: 'ok', detail: null, unknown }
  } catch (error) {
    const { state, detail } = endedBy(error)
    return { state, detail, unknown: [] }
  } finally {
    file.close()
  }
}

const isKnown = (key: string): boolean =>
  // In the last one the id comes first.
  KNOWN_STARTS.some((start) => key.startsWith(start)) || key.endsWith(':cloudAgent:metadata')

/** A name as programs have them: a word, not an id, a path or a person's words. */
const isName = (text: string): boolean =>
  /^[A-Za-z_$][\w$.-]{0,39}$/.test(text) &&
  text.replace(/\D/g, '').length <= 3 &&
  !/auth(?!or)|token|secret|mail/i.test(text)

/** The text before the first colon. A key without one may be data of the user as a whole. */
function startOf(key: string): string {
  const colon = key.indexOf(':')
  return colon > 0 && isName(key.slice(0, colon)) ? `${key.slice(0, colon + 1)}<id>` : '<id>'
}

const named = (table: string): string => (isName(table) ? table : '<table>')

const countTable = (db: Database.Database, table: string): number =>
  prepared<{ count: number }>(db, `select count(*) as count from "${table.replaceAll('"', '""')}"`).get()?.count ?? 0
