import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openWriter, type Mirror } from '../../../src/mirror/open.ts'

/** What a killed daemon was doing, according to its mirror. */
export interface Moment {
  readonly isFirstPass: boolean
  readonly isBacklog: boolean
  readonly isSweep: boolean
}

/** A copy of the mirror that a killed daemon left, so that the daemon's own recovery is not disturbed. */
export class LeftMirror {
  readonly folder = mkdtempSync(join(tmpdir(), 'cursordex-left-'))
  readonly mirror: Mirror

  /** @throws if it cannot be opened, which is the first check */
  constructor(path: string) {
    const copy = join(this.folder, 'mirror.db')
    for (const ending of ['', '-wal']) {
      if (existsSync(`${path}${ending}`)) copyFileSync(`${path}${ending}`, `${copy}${ending}`)
    }
    this.mirror = openWriter(copy)
  }

  get moment(): Moment {
    const is = (sql: string): boolean => this.mirror.prepare(sql).get() !== undefined
    return {
      isFirstPass: is(`select 1 from source_rows join sources on num = source where watermark is null limit 1`),
      isBacklog: is(`select 1 from unindexed limit 1`),
      isSweep: is(`select 1 from sweeps where signature is not null`),
    }
  }

  remove(): void {
    this.mirror.close()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** Every message of the mirror, as `chat:message`. */
export const heldIds = (mirror: Mirror): string[] =>
  mirror
    .prepare<[], string>(`select chats.id || ':' || messages.id from messages join chats on chats.num = chat`)
    .pluck()
    .all()

const missing = (what: string, wanted: readonly string[], there: readonly string[]): string[] => {
  const found = new Set(there)
  return wanted.filter((one) => !found.has(one)).map((one) => `${what}: ${one}`)
}

/** SQLite's own checks: pages, indexes, full-text tables. */
export function brokenPages(mirror: Mirror): string[] {
  const lines = mirror.prepare<[], string>('pragma integrity_check').pluck().all()
  const pages = lines.filter((line) => line !== 'ok').map((line) => `integrity_check: ${line}`)
  const tables = ['message_terms', 'chat_terms'].flatMap((table) => {
    try {
      mirror.exec(`insert into ${table} (${table}) values ('integrity-check')`)
      return []
    } catch (error) {
      return [`${table}: ${error instanceof Error ? error.message : String(error)}`]
    }
  })
  return [...pages, ...tables]
}

/** Each message has a full-text row or waits for one, and not both, and there are no other full-text rows. */
export function brokenTerms(mirror: Mirror): string[] {
  const keys = (sql: string): string[] => mirror.prepare<[], string>(sql).pluck().all()
  const wanted = keys('select cast(key as text) from messages where is_shadowed = 0')
  const indexed = keys('select cast(id as text) from message_terms_docsize')
  const waiting = keys('select cast(key as text) from unindexed')
  const chats = keys('select cast(num as text) from chats')
  const chatRows = keys('select cast(id as text) from chat_terms_docsize')
  const isIndexed = new Set(indexed)
  return [
    ...missing('neither indexed nor waiting', wanted, [...indexed, ...waiting]),
    ...missing('indexed or waiting, and no such message', [...indexed, ...waiting], wanted),
    ...waiting.filter((key) => isIndexed.has(key)).map((key) => `indexed and waiting: ${key}`),
    ...missing('a chat that is not indexed', chats, chatRows),
    ...unlistedTerms(mirror),
  ]
}

/** Words of full-text rows that the list of terms lacks, if no message waits for its terms. */
function unlistedTerms(mirror: Mirror): string[] {
  if (mirror.prepare('select 1 from unlisted limit 1').get() !== undefined) return []
  mirror.exec(`create virtual table temp.words_found using fts5vocab (main, message_terms, row)`)
  try {
    const lacking = mirror.prepare<[], string>('select term from words_found except select term from terms').pluck()
    return lacking.all().flatMap((term) => (/^[a-z]{3,40}$/.test(term) ? [`a word that is not listed: ${term}`] : []))
  } catch (error) {
    // Other checks report faults of the full-text rows themselves.
    return [`words cannot be read: ${error instanceof Error ? error.message : String(error)}`]
  } finally {
    mirror.exec(`drop table temp.words_found`)
  }
}

interface Position {
  readonly num: number
  readonly key: string
}

/** Positions whose row is not in the mirror. */
export function aheadOfRows(mirror: Mirror): string[] {
  const positions = mirror
    .prepare<[], Position>(`select num, watermark_key as key from sources where watermark_key is not null`)
    .all()
  const row = mirror.prepare<[number, string], number>('select 1 from source_rows where source = ? and key = ?')
  return positions.filter(({ num, key }) => row.get(num, key) === undefined).map(({ key }) => `ahead: ${key}`)
}

/** Rows below the position that the mirror lacks, in a store whose rows are only appended. */
export function leftBehind(
  mirror: Mirror,
  rows: readonly { readonly key: string; readonly rowid: number }[],
): string[] {
  const source = mirror
    .prepare<[], { num: number; watermark: number }>(`select num, watermark from sources where kind = 'composer-kv'`)
    .get()
  if (source === undefined) return []
  const held = new Set(
    mirror
      .prepare<[number], string>(`select key || ' ' || source_rowid from source_rows where source = ?`)
      .pluck()
      .all(source.num),
  )
  const below = rows.filter(({ rowid }) => rowid <= (source.watermark ?? 0))
  return below.filter(({ key, rowid }) => !held.has(`${key} ${rowid}`)).map(({ key }) => `left behind: ${key}`)
}

/** Messages that the mirror had before and lacks now. */
export const lostMessages = (mirror: Mirror, everHeld: ReadonlySet<string>): string[] =>
  missing('lost', [...everHeld], heldIds(mirror))
