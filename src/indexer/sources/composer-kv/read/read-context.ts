import type Database from 'better-sqlite3'
import type { Mirror } from '../../../../mirror/open.ts'
import { prepared } from '../../../../mirror/prepared.ts'
import type { ChatId } from '../../../../model/ids.ts'
import { contextFamily, contextRange, splitContextKey } from '../keys.ts'
import { tryRead } from '../../../open-safely/read-portion.ts'
import { type RowRef, readPage, type RawRow } from './read.ts'
import type { EvidenceWrite } from '../../../../mirror/write/batch.ts'
import type { OpenFile } from '../../../open-safely/cursor-file.ts'
import { weighEvidence } from '../../../projects/evidence.ts'
import { decodeContextEvidence } from '../../records/chat/decode-evidence.ts'
import { parseRow } from '../../records/json/exact-json.ts'

const LIST_HOMELESS = `
select id from chats where source = ? and (project is null or project_source = 'files') order by last_activity_at desc
`

/** Chats of this source that no evidence places, newest first. */
const listHomeless = (mirror: Mirror, source: number): ChatId[] =>
  prepared<{ id: ChatId }>(mirror, LIST_HOMELESS)
    .all(source)
    .map(({ id }) => id)

/** Many rows name no folder. In a chat of hundreds of requests all name the same one. */
const ROWS_PER_CHAT = 8
const LIST_CONTEXTS = `select key, rowid from cursorDiskKV where key > ? and key < ? order by key limit ${ROWS_PER_CHAT}`

/** The first rows of the data sent along with a chat's requests, from the index alone. */
function listContexts(db: Database.Database, chatId: ChatId): RowRef[] {
  const { from, to } = contextRange(chatId)
  // The key range of one chat also contains keys of any chat whose id continues after a colon.
  return prepared<RowRef>(db, LIST_CONTEXTS)
    .all(from, to)
    .filter(({ key }) => splitContextKey(key) === chatId)
}

const HAS_CONTEXTS = `select 1 from cursorDiskKV where key >= ? and key < ? limit 1`

/** None are known if the page is damaged. */
export function hasContexts(db: Database.Database): boolean {
  const found = tryRead(() => prepared(db, HAS_CONTEXTS).get(contextFamily.from, contextFamily.to))
  return found !== null && found.value !== undefined
}

/** How many contexts are read in one pass, and for how many chats the store is searched while it is open once. */
const CONTEXTS_MAX = 500
const CHATS_PER_READ = 1000

export interface ContextPage {
  readonly evidence: readonly EvidenceWrite[]
  readonly bytesRead: number
  readonly elapsedMs: number
}

/**
 * Finds where chats without a project belong, from the data sent along with their requests. Only the folder's path is
 * used: the rest is rules, layouts and contents of files.
 */
export function* readContexts(file: OpenFile, mirror: Mirror, source: number): Generator<ContextPage, void> {
  for (let rest = findContexts(file, mirror, source); rest.length > 0;) {
    const from = rest
    const page = file.read((db) => readPage(db, from, file.readMsMax))
    noteTried(mirror, from.slice(0, page.taken))
    rest = rest.slice(page.taken)
    yield { evidence: page.rows.flatMap(decodeContext), bytesRead: page.bytesRead, elapsedMs: page.elapsedMs }
  }
}

/** Most of these chats are from builds that wrote no context; each search is one step in the index. */
function findContexts(file: OpenFile, mirror: Mirror, source: number): RowRef[] {
  const chats = listHomeless(mirror, source)
  const found: RowRef[] = []
  for (let at = 0; at < chats.length && found.length < CONTEXTS_MAX; at += CHATS_PER_READ) {
    const some = chats.slice(at, at + CHATS_PER_READ)
    found.push(
      ...file.read((db) => some.flatMap((chatId) => listContexts(db, chatId))).filter((row) => !isTried(mirror, row)),
    )
  }
  return found.slice(0, CONTEXTS_MAX)
}

/**
 * Rows that were read, by mirror, so that rows without a folder do not block others. A new process reads them again.
 */
const tried = new WeakMap<Mirror, Set<string>>()

/** A rewritten row has another rowid, or the same content. */
const nameOf = ({ key, rowid }: RowRef): string => `${rowid} ${key}`

const isTried = (mirror: Mirror, row: RowRef): boolean => tried.get(mirror)?.has(nameOf(row)) === true

function noteTried(mirror: Mirror, rows: readonly RowRef[]): void {
  const ofMirror = tried.get(mirror) ?? new Set<string>()
  tried.set(mirror, ofMirror)
  for (const row of rows) ofMirror.add(nameOf(row))
}

function decodeContext({ key, value }: RawRow): EvidenceWrite[] {
  const chatId = splitContextKey(key)
  const row = value === null ? null : parseRow(value)
  if (chatId === null || row?.kind !== 'record') return []
  return weighEvidence(chatId, decodeContextEvidence(row.record), { isOnly: false })
}
