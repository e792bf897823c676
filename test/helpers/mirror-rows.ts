import { mkdtempSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { SearchRequest } from '../../src/api/search/request.ts'
import { openWriter, type Mirror } from '../../src/mirror/open.ts'
import { sortKeyFloor } from '../../src/mirror/write/messages/key-allocator.ts'
import { writeDictionary } from '../../src/mirror/write/write-dictionary.ts'
import { Names } from '../../src/mirror/write/write-tools.ts'
import { cutParts, writeTerms } from '../../src/mirror/fulltext/write-terms.ts'
import type { Part } from '../../src/model/part.ts'
import { marksOf } from '../../src/text/terms/marks.ts'
import { indexTermBytes } from '../../src/text/terms/terms.ts'

/** A real mirror in its own folder below the test file's home, with which it is removed. */
export function openTestMirror(): Mirror {
  const db = openWriter(join(mkdtempSync(join(homedir(), 'mirror-')), 'mirror.db'))
  db.exec(`insert into sources (num, id, kind, path, rank, state) values (1, 'source', 'rows', '/nowhere', 0, 'ok')`)
  return db
}

/** @returns the project's number */
export function insertProject(db: Mirror, name: string): number {
  const sql = `insert into projects (id, uri, path, name) values (@id, @uri, @path, @name)`
  const row = { id: `project-${name}`, uri: `file:///${name}`, path: `/${name}`, name }
  return Number(db.prepare(sql).run(row).lastInsertRowid)
}

export interface ChatRow {
  readonly id: string
  readonly title?: string
  readonly summary?: string | null
  readonly project?: number | null
}

/** @returns the chat's number */
export function insertChat(db: Mirror, chat: ChatRow): number {
  const { id, title = 'Untitled chat', summary = null, project = null } = chat
  const sql = `
    insert into chats (id, source, format, title, title_source, summary, project, revision)
    values (@id, 1, 'split', @title, 'cursor', @summary, @project, 1)
  `
  const num = Number(db.prepare(sql).run({ id, title, summary, project }).lastInsertRowid)
  const terms = [indexTermBytes(title), indexTermBytes(summary ?? '')]
  db.prepare('insert into chat_terms (rowid, title, summary) values (?, ?, ?)').run(BigInt(num), ...terms)
  writeDictionary(db, terms)
  return num
}

export interface MessageRow {
  readonly id: string
  readonly parts: readonly Part[] | string
  readonly role?: 'user' | 'assistant'
  readonly createdAtMs?: number | null
  readonly position?: number | null
  readonly model?: string | null
  readonly isOrphan?: boolean
  readonly isShadowed?: boolean
  readonly isLive?: boolean
}

/** @returns the message's key */
export function insertMessage(db: Mirror, chat: number, message: MessageRow): number {
  const { id, role = 'user', createdAtMs = null, position = 0, model = null, isOrphan = false } = message
  const parts: readonly Part[] =
    typeof message.parts === 'string' ? [{ kind: 'text', text: message.parts }] : message.parts
  const key = freeKey(db, sortKeyFloor(createdAtMs))
  const sql = `
    insert into messages (key, chat, source, body, id, role, position, created_at, model, is_orphan, is_shadowed, is_simulated,
      is_embedded, is_live, tool_calls, octets, content_hash, marks, is_index_capped)
    values (@key, @chat, 1, @body, @id, @role, @position, @createdAtMs, @model, @isOrphan, @isShadowed, 0, 0, @isLive, 0, 0, '', @marks, 0)
  `
  const flags = {
    isOrphan: Number(isOrphan),
    isShadowed: Number(message.isShadowed ?? false),
    isLive: Number(message.isLive ?? true),
  }
  const body = db.prepare('insert into bodies (parts) values (?)').run(JSON.stringify(parts)).lastInsertRowid
  const row = {
    key: BigInt(key),
    chat,
    body,
    id,
    role,
    position: isOrphan ? null : position,
    createdAtMs,
    model,
    marks: JSON.stringify(marksOf(parts)),
    ...flags,
  }
  db.prepare(sql).run(row)
  if (message.isShadowed !== true) writeTerms(db, key, cutParts(JSON.stringify(parts)))
  new Names(db).write(row.marks, model)
  return key
}

function freeKey(db: Mirror, floor: number): number {
  const sql = 'select max(key) from messages where key between ? and ?'
  const last = db
    .prepare<[bigint, bigint], number | null>(sql)
    .pluck()
    .get(BigInt(floor), BigInt(floor + 1023))
  return last === null || last === undefined ? floor : last + 1
}

/** A request with only a query, which a test can change. */
export function requestOf(q: string, changes: Partial<SearchRequest> = {}): SearchRequest {
  const clock = { timeZone: 'UTC', nowMs: Date.UTC(2026, 0, 20, 12) }
  const plain = { filters: {}, clock, sort: 'relevance', group: 'message', facets: [], explain: false } as const
  return { q, ...plain, limit: 20, offset: 0, ...changes }
}
