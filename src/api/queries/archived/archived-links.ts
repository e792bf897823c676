import type { ArchivedChat } from '../../../archive/record.ts'
import type { Mirror } from '../../../mirror/open.ts'
import { prepared } from '../../../mirror/prepared.ts'
import { listTracked, parseModels } from '../../../mirror/usage/tracked.ts'
import { toIso } from '../../iso.ts'

type Links = Pick<ArchivedChat, 'childChatIds' | 'evidence' | 'paths' | 'tracked' | 'outline' | 'messageCount'>

/** What a chat is connected with, and the order of its messages. */
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

/** A chat of which nothing was recorded is archived as it always was: its object keeps its name. */
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

/** Where a chat belongs may follow from what is not archived with it: from its parent, or from a root known otherwise. */
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

/** Under which id Cursor's list named a message counts no more: it stands where the list put it. */
const PLACES = `
  select id, position, case created_at_source when 'header' then created_at end as listedAtMs
  from messages where chat = ? and is_orphan = 0 and position is not null order by position
`
/** Whether the source that orders the thread has an order of its own, or its messages stand by time. */
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
