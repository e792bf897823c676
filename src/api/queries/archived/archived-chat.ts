import { type ArchivedChat, FORMAT, FORMAT_VERSION } from '../../../archive/record.ts'
import type { Mirror } from '../../../mirror/open.ts'
import { prepared } from '../../../mirror/prepared.ts'
import { ARCHIVE } from '../../../mirror/sources/source-ranks.ts'
import { toIso } from '../../iso.ts'
import { listTracked, parseModels } from '../../../mirror/usage/tracked.ts'

interface ChatRow {
  readonly id: string
  readonly title: string
  readonly source: string
  readonly restoredFrom: string | null
  readonly storeFormat: string
  readonly name: string | null
  readonly summary: string | null
  readonly todos: string | null
  readonly createdAtMs: number | null
  readonly updatedAtMs: number | null
  readonly mode: string | null
  readonly branch: string | null
  readonly model: string | null
  readonly status: string | null
  readonly isArchived: number
  readonly isDraft: number
  readonly isSubagent: number
  readonly deletedAtMs: number | null
  readonly parentChatId: string | null
  readonly linesAdded: number | null
  readonly linesRemoved: number | null
  readonly filesChanged: number | null
  readonly contextUsed: number | null
  readonly contextLimit: number | null
  readonly recordedCostCents: number | null
  readonly octets: number
}

/** What the stores say about the chat. Values that are derived from the messages are not archived. */
const CHAT = `
  select
    c.id, c.title, s.kind as source, case s.kind when '${ARCHIVE}' then s.path end as restoredFrom, c.format as storeFormat, c.name, c.summary, c.todos,
    c.cursor_created_at as createdAtMs, c.cursor_updated_at as updatedAtMs, c.mode, c.branch, c.cursor_model as model,
    c.status, c.is_archived as isArchived, c.is_draft as isDraft, c.is_subagent as isSubagent,
    c.deleted_at as deletedAtMs, c.parent_chat_id as parentChatId,
    c.lines_added as linesAdded, c.lines_removed as linesRemoved, c.files_changed as filesChanged,
    c.context_used as contextUsed, c.context_limit as contextLimit, c.recorded_cost_cents as recordedCostCents, c.octets
  from chats c join sources s on s.num = c.source
  where c.num = ?
`

/**
 * A chat in the form of an archive, without its messages.
 * @param origin the id of this mirror. A chat restored from another mirror's archive keeps the origin of that mirror
 * @returns null if the mirror has no such chat
 */
export function readArchivedChat(db: Mirror, num: number, origin: string): ArchivedChat | null {
  const row = prepared<ChatRow>(db, CHAT).get(num)
  if (row === undefined) return null
  return {
    format: FORMAT,
    version: FORMAT_VERSION,
    id: row.id,
    title: row.title,
    origin: row.restoredFrom ?? origin,
    source: row.source,
    storeFormat: row.storeFormat as ArchivedChat['storeFormat'],
    name: row.name,
    summary: row.summary,
    todos: row.todos === null ? [] : (JSON.parse(row.todos) as ArchivedChat['todos']),
    createdAt: toIso(row.createdAtMs),
    updatedAt: toIso(row.updatedAtMs),
    mode: row.mode,
    branch: row.branch,
    model: row.model,
    status: row.status,
    isArchived: row.isArchived === 1,
    isDraft: row.isDraft === 1,
    isSubagent: row.isSubagent === 1,
    deletedAt: toIso(row.deletedAtMs),
    parentChatId: row.parentChatId,
    ...readArchivedLinks(db, num, row.id),
    linesAdded: row.linesAdded,
    linesRemoved: row.linesRemoved,
    filesChanged: row.filesChanged,
    contextTokens:
      row.contextUsed === null && row.contextLimit === null ? null : { used: row.contextUsed, limit: row.contextLimit },
    recordedCostCents: row.recordedCostCents,
    octets: row.octets,
  }
}

type Links = Pick<ArchivedChat, 'childChatIds' | 'evidence' | 'paths' | 'tracked' | 'outline' | 'messageCount'>

/** What a chat is connected to, and the order of its messages. */
export function readArchivedLinks(db: Mirror, num: number, id: string): Links {
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

interface EvidenceRow {
  readonly method: string
  readonly rank: number
  readonly uri: string
  readonly path: string
  readonly name: string
  readonly remoteKind: string | null
  readonly remoteHost: string | null
}

/** A chat's project may follow from something that is not archived with it: from its parent, or from a root known otherwise. */
const DERIVED_RANK = 90

const EVIDENCE = `
  select e.method, e.rank, e.noted_at as notedAt, p.num as project, p.uri, p.path, p.name, p.remote_kind as remoteKind, p.remote_host as remoteHost
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

function readEvidence(db: Mirror, num: number, id: string): ArchivedChat['evidence'] {
  return prepared<EvidenceRow>(db, EVIDENCE)
    .all({ num, id })
    .map(({ method, rank, uri, path, name, remoteKind, remoteHost }) => {
      const remote = remoteKind === null ? null : { kind: remoteKind, host: remoteHost ?? '' }
      return { method, rank, root: { uri, path, name, remote } }
    })
}

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
