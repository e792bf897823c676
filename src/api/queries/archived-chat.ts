import { hash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import {
  type ArchivedChat,
  Damage,
  type Decoded,
  FORMAT,
  FORMAT_VERSION,
  type ObjectLimits,
  decodeObject,
} from '../../archive/archived-chat.ts'
import type { Mirror } from '../../mirror/open.ts'
import { prepared } from '../../mirror/sql.ts'
import { ARCHIVE } from '../../mirror/sources/sources.ts'
import { listTracked } from '../../mirror/usage/tracked.ts'
import { type Row, answerRow, bind, inSnapshot, theRow, toIso } from './rows.ts'
import { PACKED_BYTES_MAX, chooseChats, readChat as readArchived } from '../archives/archive-files.ts'
import { isListedOnly } from '../../mirror/write/chat-columns.ts'
import type { ListedArchivedChat } from '../answers/archives.ts'
import type { Page, PageRequest } from '../answers/common.ts'

/** A packed chat that is not written yet. */
export interface PackedChat {
  /** The name of the object: SHA-256 of its bytes. */
  readonly object: string
  readonly packed: Buffer
  /** How many messages it contains. */
  readonly messages: number
}

/**
 * A chat as an object of an archive. It is decoded as a restore does it, so nothing is written that cannot be restored.
 * Null if the chat was purged meanwhile.
 * @param origin the mirror's identity. A chat restored from another mirror's archive keeps the origin of that mirror
 * @param how by `change` the lines are rewritten, for a reader who may not see everything
 */
export function packChat(
  db: Mirror,
  num: number,
  origin: string,
  how: { readonly change: (lines: Iterable<string>) => Iterable<string>; readonly limits: ObjectLimits } = asItIs,
): Decoded<PackedChat> | null {
  return inSnapshot(db, () => {
    const chat = readChat(db, num, origin)
    if (chat === null) return null
    try {
      return { kind: 'sound', value: packLines(how.change(linesOf(db, num, chat)), how.limits) }
    } catch (error) {
      // A text that is too long is a RangeError. Errors of the disk are others.
      if (error instanceof Damage || error instanceof RangeError) return { kind: 'damaged', why: error.message }
      throw error
    }
  })
}

const asItIs = { change: (lines: Iterable<string>) => lines, limits: { bytesMax: PACKED_BYTES_MAX } }

/** @param lines of a chat and its messages, with line feeds  @throws Damage; RangeError for a text that is too long */
function packLines(lines: Iterable<string>, limits: ObjectLimits): PackedChat {
  const all: string[] = []
  let bytes = 0
  for (const line of lines) {
    bytes += Buffer.byteLength(line)
    if (bytes > limits.bytesMax) throw new Damage(`it has more than ${limits.bytesMax / 1024 ** 2} MB of text`)
    all.push(line)
  }
  const messages = decodeObject(all, limits, ({ id }) => ({ id })).messages.length
  const text = all.join('')
  // A long chat is in memory as few times as possible.
  all.length = 0
  // Level 4 takes half the time of the default level 6 and makes source code 4% larger, as measured.
  const packed = gzipSync(text, { level: 4 })
  return { object: hash('sha256', packed), packed, messages }
}

/** A chat's project may follow from something that is not archived with it: from its parent, or from a root known otherwise. */
const DERIVED_RANK = 90

/** Why the chat belongs to a project, the best reason first. */
const EVIDENCE = `
  select e.method, e.rank, e.noted_at as notedAt, p.*
  from evidence e join projects p on p.num = e.project
  where e.chat_id = c.id
  union all
  select c.project_source, ${DERIVED_RANK}, null, p.*
  from projects p
  where p.num = c.project and not exists (
    select 1 from evidence e where e.chat_id = c.id and e.project = c.project and e.method = c.project_source
  )
  order by rank, notedAt desc, num desc
`

/** A chat's own columns, in the names of the format. Values that are derived from the messages are not archived. */
const CHAT = `
  select
    c.id, c.title, case s.kind when '${ARCHIVE}' then s.path else @origin end as origin, s.kind as source,
    c.format as storeFormat, c.name, c.summary, c.cursor_created_at as createdAt,
    c.cursor_updated_at as updatedAt, c.mode, c.branch, c.cursor_model as model, c.status,
    c.is_archived as isArchived, c.is_draft as isDraft, c.is_subagent as isSubagent, c.deleted_at as deletedAt,
    c.parent_chat_id as parentChatId, c.lines_added as linesAdded, c.lines_removed as linesRemoved,
    c.files_changed as filesChanged, c.recorded_cost_cents as recordedCostCents, c.octets,
    (select count(*) from messages where chat = c.num and is_orphan <> 2) as messageCount,
    coalesce(c.todos, '[]') as todos,
    iif(coalesce(c.context_used, c.context_limit) is null, 'null',
      json_object('used', c.context_used, 'limit', c.context_limit)) as contextTokens,
    (select json_group_array(child_id) from (select child_id from chat_links where parent_id = c.id order by child_id))
      as childChatIds,
    (select json_group_array(json_object('method', method, 'rank', rank, 'root', json_object(
      'uri', uri, 'path', path, 'name', name,
      'remote', iif(remote_kind is null, null, json_object('kind', remote_kind, 'host', coalesce(remote_host, '')))
    ))) from (${EVIDENCE})) as evidence,
    (select json_group_array(uri) from (select uri from chat_paths where chat_id = c.id order by uri)) as paths
  from chats c join sources s on s.num = c.source
  where c.num = @num
`
const JSON_COLUMNS = ['todos', 'contextTokens', 'childChatIds', 'evidence', 'paths'] as const

/** Without its messages. Null if the mirror has no such chat. `decodeObject` checks it. */
function readChat(db: Mirror, num: number, origin: string): ArchivedChat | null {
  const row = prepared<Row>(db, CHAT).get({ num, origin })
  if (row === undefined) return null
  return {
    format: FORMAT,
    version: FORMAT_VERSION,
    ...answerRow<Omit<ArchivedChat, 'format' | 'version' | 'tracked' | 'outline'>>(row, JSON_COLUMNS),
    ...archivedHours(db, String(row['id'])),
    outline: readOrder(db, num),
  }
}

/** If nothing was recorded, the field is left out: then the object is the same as in older archives and keeps its name. */
function archivedHours(db: Mirror, id: string): Pick<ArchivedChat, 'tracked'> {
  const tracked = listTracked(db, id).map(({ firstAtMs, lastAtMs, models }) => ({
    firstAt: toIso(firstAtMs),
    lastAt: toIso(lastAtMs),
    models: models.map(([name, atMs]) => ({ name, lastAt: toIso(atMs) })),
  }))
  return tracked.length === 0 ? {} : { tracked }
}

/** The id of a message in Cursor's list no longer matters, because its position comes from that list. */
const PLACES = `
  select id, position, case created_at_source when 'header' then created_at end as listedAtMs
  from messages where chat = ? and is_orphan = 0 and position is not null order by position
`

type Place = { readonly id: string; readonly position: number; readonly listedAtMs: number | null }

/** The order of the thread as it is, whether it is that of Cursor or by time. */
function readOrder(db: Mirror, num: number): ArchivedChat['outline'] {
  const entries: NonNullable<ArchivedChat['outline']> = []
  for (const { id, position, listedAtMs } of prepared<Place>(db, PLACES).all(num)) {
    while (entries.length < position) entries.push({ id: null, role: null, createdAt: null, startedAt: null })
    entries.push({ id, role: null, createdAt: toIso(listedAtMs), startedAt: null })
  }
  return entries.length === 0 ? null : entries
}

/** Copies of messages in the thread are left out: they contain nothing else. */
const KEYS = `
  select key from messages where chat = ? and is_orphan <> 2 order by is_orphan, position, created_at, id
`
/** Read one by one, so that SQLite does not sort long rows. As in Cursor's own rows, 0 tokens means not recorded. */
const MESSAGE = `
  select
    m.id, m.alias, iif(m.is_orphan = 1, null, m.position) as position, m.role, m.sent_at as sentAt,
    m.started_at as startedAt, m.timing_at as timingAt, m.model, m.input_tokens as input, m.output_tokens as output,
    m.request_id as requestId, m.is_simulated as isSimulated, m.is_orphan as isOrphan, m.deleted_at as deletedAt,
    s.kind as source, m.octets, b.parts, json_valid(b.parts) as hasJson
  from messages m
  join bodies b on b.num = m.body
  join sources s on s.num = m.source
  where m.key = @key
`

/** The chat, then its messages, the thread first. The parts are stored as JSON and copied unchanged. The transaction must outlive the iteration. */
function* linesOf(db: Mirror, num: number, chat: ArchivedChat): Generator<string> {
  yield `${JSON.stringify(chat)}\n`
  for (const key of prepared<number>(db, KEYS).pluck().all(num)) {
    // No row can disappear within one transaction.
    const { input, output, requestId, parts, hasJson, ...columns } = theRow(prepared<Row>(db, MESSAGE), { key })
    // A substitute for it would count as the chat's newest state.
    if (hasJson !== 1) throw new Damage(`the text of its message ${columns['id']} is damaged in the mirror`)
    const tokens = input === null && output === null ? null : { input: input ?? 0, output: output ?? 0 }
    const head = { ...answerRow<object>(columns), tokens, ...(requestId === null ? {} : { requestId }) }
    yield `${JSON.stringify(head).slice(0, -1)},"parts":${parts}}\n`
  }
}

interface ArchivableChat {
  readonly num: number
  readonly id: string
  readonly revision: number
  /** 1 for a chat of lists: no subagent, no draft, not empty. */
  readonly isListed: number
}

const ARCHIVABLE = `
  select c.num, c.id, c.revision, c.is_draft = 0 and c.is_subagent = 0 and c.message_count > 0 as isListed
  from chats c
  where c.machine is null and not ${isListedOnly('c')}
    and (@nums is null or c.num in (select value from json_each(@nums)))
  order by c.num
`

/** Chats to archive, by number. Pulled chats are archived by the machine that has them. @param nums null for all chats */
export const listArchivable = (db: Mirror, nums: readonly number[] | null): ArchivableChat[] =>
  prepared<ArchivableChat>(db, ARCHIVABLE).all(bind({ nums }))

/** The id of this mirror. A rebuilt mirror has a new one. */
export const readIdentity = (db: Mirror): string => theRow(prepared<{ id: string }>(db, 'select id from identity')).id

export interface ArchivedChatsRequest extends PageRequest {
  readonly dir: string
  /** Of a run; null for all of them. */
  readonly name: string | null
  /** Words that the title has, or the beginning of the id; null for all chats. */
  readonly q: string | null
}

const TITLE = `select title from chats where id = ?`

/**
 * The chats of an archive, by title. The title is that of the mirror; only an archived chat that the mirror lacks is read.
 * @throws UserError `archive-not-found`
 */
export function listArchivedChats(
  db: Mirror,
  { dir: given, name, q, limit, offset }: ArchivedChatsRequest,
): Page<ListedArchivedChat> {
  const { dir, chats } = chooseChats(given, name)
  const words = (q ?? '')
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  const found = chats.flatMap(({ id, entry, objects }): ListedArchivedChat[] => {
    if (id === null || entry === null) return []
    const held = prepared<string>(db, TITLE).pluck().get(id)
    const [object = ''] = objects
    const title = held ?? readArchived(dir, object, id)?.chat.title ?? null
    const text = (title ?? '').toLowerCase()
    const isFound = id.startsWith(q ?? '') || words.every((word) => text.includes(word))
    return isFound ? [{ id, title, messages: entry.messages, bytes: entry.bytes, isHere: held !== undefined }] : []
  })
  const sorted = found.sort((one, other) => ((one.title ?? '') < (other.title ?? '') ? -1 : 1))
  return { items: sorted.slice(offset, offset + limit), total: sorted.length, limit, offset }
}
