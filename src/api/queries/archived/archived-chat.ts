import { type ArchivedChat, type ArchivedMessage, FORMAT, FORMAT_VERSION } from '../../../archive/record.ts'
import type { Mirror } from '../../../mirror/open.ts'
import { soundParts } from '../../../mirror/parse-parts.ts'
import { prepared } from '../../../mirror/prepared.ts'
import { ARCHIVE } from '../../../mirror/sources/source-ranks.ts'
import { toIso } from '../../iso.ts'
import { listTracked, parseModels } from '../../../mirror/usage/tracked.ts'

/** A chat's own columns, in the names of the format. Values that are derived from the messages are not archived. */
const CHAT = `
  select
    c.id, c.title, case s.kind when '${ARCHIVE}' then s.path else @origin end as origin, s.kind as source,
    c.format as storeFormat, c.name, c.summary, c.todos, c.cursor_created_at as createdAt,
    c.cursor_updated_at as updatedAt, c.mode, c.branch, c.cursor_model as model, c.status,
    c.is_archived as isArchived, c.is_draft as isDraft, c.is_subagent as isSubagent, c.deleted_at as deletedAt,
    c.parent_chat_id as parentChatId, c.lines_added as linesAdded, c.lines_removed as linesRemoved,
    c.files_changed as filesChanged, c.context_used as used, c.context_limit as "limit",
    c.recorded_cost_cents as recordedCostCents, c.octets
  from chats c join sources s on s.num = c.source
  where c.num = @num
`

/** A row as the format has it, but for times, which are integers, flags, which are 0 or 1, and lists, which are JSON. */
type Row<Record> = {
  readonly [Key in keyof Record]: Key extends `${string}At`
    ? number | null
    : Record[Key] extends boolean
      ? number
      : Record[Key] extends readonly unknown[]
        ? string | null
        : Record[Key]
}

type ChatRow = Row<Omit<ArchivedChat, keyof Links | 'format' | 'version' | 'contextTokens'>> & {
  readonly used: number | null
  readonly limit: number | null
}

/**
 * A chat in the form of an archive, without its messages.
 * @param origin the id of this mirror. A chat restored from another mirror's archive keeps the origin of that mirror
 * @returns null if the mirror has no such chat
 */
export function readArchivedChat(db: Mirror, num: number, origin: string): ArchivedChat | null {
  const row = prepared<ChatRow>(db, CHAT).get({ num, origin })
  if (row === undefined) return null
  const { linesAdded, linesRemoved, filesChanged, used, limit, recordedCostCents, octets, ...facts } = row
  return {
    format: FORMAT,
    version: FORMAT_VERSION,
    ...facts,
    todos: JSON.parse(row.todos ?? '[]') as ArchivedChat['todos'],
    createdAt: toIso(row.createdAt),
    updatedAt: toIso(row.updatedAt),
    isArchived: row.isArchived === 1,
    isDraft: row.isDraft === 1,
    isSubagent: row.isSubagent === 1,
    deletedAt: toIso(row.deletedAt),
    ...readLinks(db, num, row.id),
    linesAdded,
    linesRemoved,
    filesChanged,
    contextTokens: used === null && limit === null ? null : { used, limit },
    recordedCostCents,
    octets,
  }
}

type Links = Pick<ArchivedChat, 'childChatIds' | 'evidence' | 'paths' | 'tracked' | 'outline' | 'messageCount'>

/** What a chat is connected to, and the order of its messages. */
function readLinks(db: Mirror, num: number, id: string): Links {
  return {
    childChatIds: prepared<{ id: string }>(db, CHILDREN)
      .all(id)
      .map((row) => row.id),
    evidence: readEvidence(db, num, id),
    paths: prepared<{ uri: string }>(db, PATHS)
      .all(id)
      .map((row) => row.uri),
    ...archivedHours(db, id),
    outline: readOrder(db, num),
    messageCount: prepared<{ count: number }>(db, COUNT).get(num)?.count ?? 0,
  }
}

/** If nothing was recorded, the field is left out: then the object is the same as in older archives and keeps its name. */
function archivedHours(db: Mirror, id: string): Pick<Links, 'tracked'> {
  const tracked = listTracked(db, id).map(({ firstAtMs, lastAtMs, models }) => ({
    firstAt: toIso(firstAtMs),
    lastAt: toIso(lastAtMs),
    models: [...parseModels(models)].map(([name, atMs]) => ({ name, lastAt: toIso(atMs) })),
  }))
  return tracked.length === 0 ? {} : { tracked }
}

const CHILDREN = `select child_id as id from chat_links where parent_id = ? order by child_id`
const PATHS = `select uri from chat_paths where chat_id = ? order by uri`
const COUNT = `select count(*) as count from messages where chat = ? and is_orphan <> 2`

/** A chat's project may follow from something that is not archived with it: from its parent, or from a root known otherwise. */
const DERIVED_RANK = 90

const EVIDENCE = `
  select e.method, e.rank, e.noted_at as notedAt, p.num as project, p.uri, p.path, p.name, p.remote_kind as kind,
    p.remote_host as host
  from evidence e join projects p on p.num = e.project
  where e.chat_id = @id
  union all
  select c.project_source, ${DERIVED_RANK}, null, p.num, p.uri, p.path, p.name, p.remote_kind, p.remote_host
  from chats c join projects p on p.num = c.project
  where c.num = @num and not exists (
    select 1 from evidence e where e.chat_id = @id and e.project = c.project and e.method = c.project_source
  )
  order by rank, notedAt desc, project desc
`

interface EvidenceRow {
  readonly method: string
  readonly rank: number
  readonly uri: string
  readonly path: string
  readonly name: string
  readonly kind: string | null
  readonly host: string | null
}

const readEvidence = (db: Mirror, num: number, id: string): ArchivedChat['evidence'] =>
  prepared<EvidenceRow>(db, EVIDENCE)
    .all({ num, id })
    .map(({ method, rank, uri, path, name, kind, host }) => {
      const remote = kind === null ? null : { kind, host: host ?? '' }
      return { method, rank, root: { uri, path, name, remote } }
    })

interface PlaceRow {
  readonly id: string
  readonly position: number
  readonly listedAtMs: number | null
}

/** The id of a message in Cursor's list no longer matters, because its position comes from that list. */
const PLACES = `
  select id, position, case created_at_source when 'header' then created_at end as listedAtMs
  from messages where chat = ? and is_orphan = 0 and position is not null order by position
`
/** Whether the source that orders the thread has its own order, or its messages are ordered by time. */
const IS_ORDERED = `
  select o.entries <> 'null' as isOrdered
  from messages m
  join sources s on s.num = m.source
  left join outlines o on o.chat = m.chat and o.source = m.source
  where m.chat = ? and m.is_orphan = 0
  order by m.is_live desc, s.rank, s.num
  limit 1
`

function readOrder(db: Mirror, num: number): ArchivedChat['outline'] {
  if (prepared<{ isOrdered: number | null }>(db, IS_ORDERED).get(num)?.isOrdered !== 1) return null
  const entries: NonNullable<ArchivedChat['outline']> = []
  for (const { id, position, listedAtMs } of prepared<PlaceRow>(db, PLACES).all(num)) {
    while (entries.length < position) entries.push({ id: null, role: null, createdAt: null, startedAt: null })
    entries.push({ id, role: null, createdAt: toIso(listedAtMs), startedAt: null })
  }
  return entries
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
    s.kind as source, m.octets, ${soundParts('b.parts')} as parts
  from messages m
  join bodies b on b.num = m.body
  join sources s on s.num = m.source
  where m.key = ?
`

type MessageRow = Row<Omit<ArchivedMessage, 'tokens' | 'requestId'>> & {
  readonly input: number | null
  readonly output: number | null
  readonly requestId: string | null
}

/**
 * The messages of a chat as lines of an archive object, the thread first. The parts are stored as JSON and copied
 * unchanged. The caller's transaction must outlive the iteration.
 */
export function* readMessageLines(db: Mirror, num: number): Generator<string> {
  for (const { key } of prepared<{ key: number }>(db, KEYS).all(num)) {
    const row = prepared<MessageRow>(db, MESSAGE).get(key)
    // No row can disappear within one transaction.
    if (row === undefined) throw new Error('a message of the chat is missing')
    const { id, alias, position, role, model, input, output, requestId, source, octets, parts } = row
    const head: Omit<ArchivedMessage, 'parts'> = {
      id,
      alias,
      position,
      role,
      sentAt: toIso(row.sentAt),
      startedAt: toIso(row.startedAt),
      timingAt: toIso(row.timingAt),
      model,
      tokens: input === null && output === null ? null : { input: input ?? 0, output: output ?? 0 },
      ...(requestId === null ? {} : { requestId }),
      isSimulated: row.isSimulated === 1,
      isOrphan: row.isOrphan === 1,
      deletedAt: toIso(row.deletedAt),
      source,
      octets,
    }
    yield `${JSON.stringify(head).slice(0, -1)},"parts":${parts}}\n`
  }
}

export interface ArchivableChat {
  readonly num: number
  readonly id: string
  readonly revision: number
  /** 1 for a chat of lists: no subagent, no draft, not empty. */
  readonly isListed: number
}

const COLUMNS = 'c.num, c.id, c.revision, c.is_draft = 0 and c.is_subagent = 0 and c.message_count > 0 as isListed'
const ALL = `select ${COLUMNS} from chats c where c.machine is null order by c.num`
const THESE = `
  select ${COLUMNS} from json_each(?) wanted join chats c on c.num = wanted.value and c.machine is null order by c.num
`

/** Chats to archive, by number. Pulled chats are archived by the machine that has them. @param nums null for all chats */
export const listArchivable = (db: Mirror, nums: readonly number[] | null): ArchivableChat[] =>
  nums === null
    ? prepared<ArchivableChat>(db, ALL).all()
    : prepared<ArchivableChat>(db, THESE).all(JSON.stringify(nums))

const IDENTITY = `select id from identity`

/** The id of this mirror. A rebuilt mirror has a new one. */
export function readIdentity(db: Mirror): string {
  const id = prepared<{ id: string }>(db, IDENTITY).get()?.id
  if (id === undefined) throw new Error('a mirror has no identity')
  return id
}
