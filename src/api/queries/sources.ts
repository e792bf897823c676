import { HUB, readMissed } from '../../mirror/sources/sources.ts'
import type { Mirror } from '../../mirror/open.ts'
import type { Status } from '../answers/status.ts'
import { answerRow, inSnapshot, theRow, bind, type Row, PROJECT_REF } from './rows.ts'
import { prepared } from '../../mirror/sql.ts'
import type { Page, PageRequest } from '../answers/common.ts'
import { chatInScope, within, type Scope } from './scope.ts'
import { parseParts } from '../../mirror/write/pack-message.ts'
import type { ListedLoss, LossCounts } from '../answers/chats.ts'
import type { SourceId } from '../../model/ids.ts'
import type { SourceState } from '../../model/source.ts'
import { countProjects } from './projects.ts'

const SOURCES = `
  select id, kind, path, state, detail, last_sync_at as lastSyncAt, total_rows as rows
  from sources
  where kind <> '${HUB}'
  order by rank, kind, path
`

/** All stores that were ever read, by rank: the best sources of chats first. */
export const listSources = (db: Mirror): Status['sources'][number][] =>
  prepared<Row>(db, SOURCES)
    .all()
    .map((row) => answerRow<Status['sources'][number]>(row))

const lossesIn = (scope: Scope): string => `
  from losses l where true ${within(scope, 'l.at')} ${chatInScope(scope, 'l.chat')}
`

/** Walks the index by time. The rows of chats are read only for the page, or for a filter. */
const findLosses = (scope: Scope): string => `
  select l.at, l.kind, c.id as chatId, iif(l.kind = 'chat', null, l.message_id) as messageId, ${PROJECT_REF}, c.title,
    iif(l.kind = 'chat', null, (
      select b.parts from messages m join bodies b on b.num = m.body
      where m.chat = l.chat and m.id = l.message_id order by m.is_orphan = 2 limit 1
    )) as parts
  from (
    select at, chat, kind, message_id ${lossesIn(scope)}
    order by at desc, chat desc, kind desc, message_id desc limit @limit offset @offset
  ) l
  join chats c on c.num = l.chat
  left join projects p on p.num = c.project
  order by l.at desc, l.chat desc, l.kind desc, l.message_id desc
`

/** What Cursor deleted and the mirror still has, the last noticed first. */
export function listLosses(db: Mirror, request: PageRequest & Scope): Page<ListedLoss> {
  const { limit, offset } = request
  const bound = bind(request)
  return inSnapshot(db, () => {
    const rows = prepared<Row & { readonly parts: string | null }>(db, findLosses(request)).all(bound)
    const items = rows.map(({ parts, ...row }) => ({
      ...answerRow<Omit<ListedLoss, 'text'>>(row, ['project']),
      text: beginningOf(parts),
    }))
    const total =
      prepared<number>(db, `select count(*) ${lossesIn(request)}`)
        .pluck()
        .get(bound) ?? 0
    return { items, total, limit, offset }
  })
}

const TEXT_LENGTH_MAX = 300

/** The first words of a lost message; the kind of its first part if that has no words. */
function beginningOf(json: string | null): string | null {
  const part = json === null ? undefined : parseParts(json)[0]
  if (part === undefined) return null
  return 'text' in part ? (part.text ?? '').slice(0, TEXT_LENGTH_MAX).toWellFormed() : part.kind
}

const SUM_LOSSES = `
  select
    count(*) filter (where kind = 'message') as messages,
    count(*) filter (where kind = 'chat') as chats,
    (select max(at) from losses) as lastAt
  from losses
`

/** Counts everything that `listLosses` lists. Use it wherever losses are counted, so that the numbers agree. */
export const sumLosses = (db: Mirror): LossCounts => answerRow(theRow(prepared<Row>(db, SUM_LOSSES)))

/** A message of several sources counts once, for the best of them. A chat counts for the source that describes it. */
const SUM_OF_SOURCE = `
  select
    count(*) filter (where l.kind = 'message') as messages,
    count(*) filter (where l.kind = 'chat') as chats
  from losses l
  where @num = case l.kind
    when 'chat' then (select source from chats where num = l.chat)
    else (
      select m.source from messages m join sources s on s.num = m.source
      where m.chat = l.chat and m.id = l.message_id
      order by m.is_orphan = 2, s.rank, s.num limit 1
    )
  end
`

const FIND_SOURCE = `
  select num, state, detail, last_sync_at as lastSyncAt, total_rows as total, null_keys as nullKeys
  from sources where id = ?
`
const COUNTS = `
  select
    count(*) filter (where is_orphan = 0) as held, count(*) filter (where is_orphan = 1) as orphans,
    (
      select count(*) from chats where source = @num or num in (
        select chat from outlines where source = @num union select chat from messages where source = @num
      )
    ) as chats,
    (select count(*) from source_rows where source = @num and is_live = 1) as live,
    (
      select count(*) from row_issues i join source_rows r on r.source = i.source and r.key = i.key
      where i.source = @num and r.is_live = 1
    ) as liveIssues
  from messages where source = @num
`

type Source = {
  readonly state: SourceState
  readonly detail: string | null
  readonly lastSyncAt: string | null
} & Readonly<Record<'num' | 'total' | 'nullKeys', number>>
type SourceCounts = Readonly<Record<'held' | 'orphans' | 'chats' | 'live' | 'liveIssues', number>>

/** The state of one store's chats and rows when it was last read. */
export type SourceFindings = NonNullable<ReturnType<typeof examineSource>>

/** @returns null for a store that was never read */
export function examineSource(db: Mirror, id: SourceId) {
  return inSnapshot(db, () => {
    const row = prepared<Row>(db, FIND_SOURCE).get(id)
    if (row === undefined) return null
    const { num, total, nullKeys, ...state } = answerRow<Source>(row)
    const { held, orphans, chats, ...rows } = theRow(prepared<SourceCounts>(db, COUNTS), { num })
    const lost = theRow(prepared<Pick<LossCounts, 'messages' | 'chats'>>(db, SUM_OF_SOURCE), { num })
    const missed = readMissed(db, { source: num })
    return {
      ...state,
      /** `lost` and `keptHere` are what Cursor deleted, and the mirror still has. */
      chats: { total: chats, lost: lost.chats },
      messages: { held, orphans, keptHere: lost.messages },
      issues: readIssues(db, num, nullKeys),
      /** Rows that disappeared all at once. They count as present until a second check. */
      pendingLoss: missed === undefined ? null : { rows: missed.rows, of: missed.of },
      /** All rows at the last count, and those that are mirrored and still exist. */
      rows: { total, ...rows },
    }
  })
}

const ISSUES = `
  select reason, count(*) as count, min(key) as example from row_issues where ifnull(source = @source, 1)
  group by reason order by reason
`
interface ReasonCount {
  readonly reason: string
  readonly count: number
  /** The key of one such row; null if the rows have no key. */
  readonly example: string | null
}

/** Rows without a key cannot be recorded one by one. They are only counted. @param source null for all */
const readIssues = (db: Mirror, source: number | null, nullKeys: number): ReasonCount[] => [
  ...prepared<ReasonCount>(db, ISSUES).all({ source }),
  ...(nullKeys === 0 ? [] : [{ reason: 'null-key', count: nullKeys, example: null }]),
]

type Census = Pick<Status, 'counts' | 'losses' | 'issues' | 'coverage'>

export const EMPTY_CENSUS: Census = {
  counts: { projects: 0, chats: 0, subagents: 0, messages: 0, orphans: 0, deleted: 0 },
  losses: { messages: 0, chats: 0, lastAt: null },
  issues: {},
  coverage: { rows: 0, read: 0, orphans: 0, issues: 0, noise: 0 },
}

/** All numbers of the mirror in `/status`. The cost grows with the mirror: use it with `cached`. */
export function countEverything(db: Mirror): Census {
  return inSnapshot(db, () => {
    const { totalRows, nullKeys, liveRows, liveIssues, ...counts } = theRow(prepared<Figures>(db, FIGURES))
    const issues = readIssues(db, null, nullKeys)
    const issueCount = issues.reduce((sum, { count }) => sum + count, 0)
    const read = liveRows - liveIssues
    return {
      counts: { projects: countProjects(db), ...counts },
      losses: sumLosses(db),
      issues: Object.fromEntries(issues.map(({ reason, count }) => [reason, count])),
      coverage: {
        rows: totalRows,
        read,
        orphans: counts.orphans,
        issues: issueCount,
        noise: Math.max(0, totalRows - read - issueCount),
      },
    }
  })
}

type Figures = Omit<Status['counts'], 'projects'> &
  Readonly<Record<'totalRows' | 'nullKeys' | 'liveRows' | 'liveIssues', number>>

/** Issues are few. Subtracting those with a live row is cheaper than a look-up for every row. */
const FIGURES = `
  select
    (select count(*) from chats where is_draft = 0 and message_count > 0 and is_subagent = 0) as chats,
    (select count(*) from chats where is_draft = 0 and message_count > 0 and is_subagent = 1) as subagents,
    (select coalesce(sum(message_count), 0) from chats where is_draft = 0) as messages,
    (select count(*) from messages where is_orphan = 1) as orphans,
    (select count(*) from messages where is_live = 0 and is_orphan <> 2) as deleted,
    (select coalesce(sum(total_rows), 0) from sources) as totalRows,
    (select coalesce(sum(null_keys), 0) from sources) as nullKeys,
    (select coalesce(sum(count), 0) from live_rows) as liveRows,
    (
      select count(*)
      from row_issues i cross join source_rows r on r.source = i.source and r.key = i.key
      where r.is_live = 1
    ) as liveIssues
`
