import type { Mirror } from '../../../mirror/open.ts'
import { isOfMachines } from '../machines.ts'
import { matchTitles } from './match-titles.ts'
import type { Scope } from '../message-sums.ts'
import type { Page, PageRequest } from '../../answers/common.ts'
import { inSnapshot } from '../snapshot.ts'
import type { Chat } from '../../answers/chats.ts'
import { CALL_CHAT_PREFIX } from '../../../model/chat.ts'
import { ARCHIVE } from '../../../mirror/sources/sources.ts'
import type { ChatId } from '../../../model/ids.ts'
import type { ProjectRef } from '../../answers/projects.ts'
import { answerRow, bindList, MACHINE_REF, PROJECT_REF, SOURCE_NAME, type Row } from '../answer-row.ts'
import { prepared } from '../../../mirror/sql.ts'
import { isListedOnly } from '../../../mirror/write/chat-columns.ts'

export const chatSorts = ['newest', 'oldest', 'size', 'messages'] as const
export type ChatSort = (typeof chatSorts)[number]

/** The parameters of the route. A chat is in a period if it was active after its start and began before its end. */
export interface ChatListRequest extends PageRequest, Scope {
  readonly mode: readonly string[] | null
  readonly branch: readonly string[] | null
  readonly model: readonly string[] | null
  readonly archived: boolean | null
  readonly deleted: boolean | null
  /** True lists subagents too. */
  readonly subagents: boolean | null
  /** True lists drafts and chats without messages too. */
  readonly includeEmpty: boolean | null
  /** The beginning of the id. A whole id finds only its chat. */
  readonly idPrefix: string | null
  /** Words to find in titles; blank matches any title. */
  readonly q: string | null
  /** Lists only the chats with these row numbers. The scores give the order unless a sort is named. Null: all chats. */
  readonly scores: ReadonlyMap<number, number> | null
  /** Null: the best title match first if titles are searched, else the newest. */
  readonly sort: ChatSort | null
}

/** In SQLite null sorts lowest, so unknown values are last in descending order. */
const ORDERS: Readonly<Record<ChatSort, string>> = {
  newest: 'c.last_activity_at desc, c.num desc',
  oldest: 'c.last_activity_at asc nulls last, c.num asc',
  size: 'c.size_bytes desc, c.num desc',
  messages: 'c.message_count desc, c.num desc',
}

/** If the clock was wrong when the chat was created, it may seem to begin after its last activity. */
const BEGAN_AT = `min(coalesce(c.created_at, c.last_activity_at), coalesce(c.last_activity_at, c.created_at))`

/** A chat without a time passes no time filter, because a comparison with null is not true. */
const LISTED_CHATS = `
  from chats c
  where (@includeEmpty = 1 or (c.is_draft = 0 and c.message_count > 0))
    and (@subagents = 1 or c.is_subagent = 0)
    and (@archived is null or c.is_archived = @archived)
    and (@deleted is null or c.is_live = 1 - @deleted)
    and (@projects is null or c.project in (select value from json_each(@projects)))
    and (@machines is null or ${isOfMachines('c', '@machines')})
    and (@modes is null or c.mode in (select value from json_each(@modes)))
    and (@branches is null or c.branch in (select value from json_each(@branches)))
    and (
      @models is null
      or c.model in (select value from json_each(@models))
      or exists (select 1 from json_each(c.models) m where m.value in (select value from json_each(@models)))
    )
    and (@fromMs is null or c.last_activity_at >= @fromMs)
    and (@toMs is null or ${BEGAN_AT} < @toMs)
    and (@matches is null or c.num in (select value from json_each(@matches)))
    and (@idPrefix is null or c.id = @idPrefix or substr(c.id, 1, length(@idPrefix)) = @idPrefix
      and not exists (select 1 from chats where id = @idPrefix))
`

const COUNT_CHATS = `select count(*) ${LISTED_CHATS}`
const COUNT_UNDATED = `${COUNT_CHATS} and c.last_activity_at is null`

/** Selects only row numbers. The wide rows are read just for the page, even if its offset is large. */
const findChats = (sort: ChatSort): string =>
  `select c.num ${LISTED_CHATS} order by ${ORDERS[sort]} limit @limit offset @offset`

/** One page of the chats that pass the filter. With a date, also how many pass the other filters and have no time. */
export function listChats(db: Mirror, request: ChatListRequest): Page<Chat> & { readonly undated?: number } {
  const { fromMs, toMs } = request
  return inSnapshot(db, () => {
    const scores = readScores(db, request)
    if (fromMs === null && toMs === null) return listPage(db, request, scores)
    const others = bindFilter({ ...request, fromMs: null, toMs: null }, scores)
    const undated = prepared<number>(db, COUNT_UNDATED).pluck().get(others) ?? 0
    return { ...listPage(db, request, scores), undated }
  })
}

function listPage(db: Mirror, request: ChatListRequest, scores: ReadonlyMap<number, number> | null): Page<Chat> {
  const { limit, offset } = request
  if (scores !== null && request.sort === null) return listByScore(db, request, scores)
  const filter = bindFilter(request, scores)
  const nums = prepared<number>(db, findChats(request.sort ?? 'newest'))
    .pluck()
    .all({ ...filter, limit, offset })
  return { items: readChats(db, nums), total: countChats(db, filter), limit, offset }
}

/**
 * The chats whose titles match, with scores for their order. If all chats of a better match are filtered out, for
 * example because they are drafts, a weaker match is used.
 */
function readScores(db: Mirror, request: ChatListRequest): ReadonlyMap<number, number> | null {
  const words = request.q?.trim() ?? ''
  if (words === '') return request.scores
  for (const titles of matchTitles(db, words)) {
    const scores = new Map([...titles].filter(([num]) => request.scores?.has(num) ?? true))
    if (countChats(db, bindFilter(request, scores)) > 0) return scores
  }
  return new Map()
}

/** The scores are not in the database, so the chats are sorted here. Of equal scores, the newest chat is first. */
function listByScore(db: Mirror, request: ChatListRequest, scores: ReadonlyMap<number, number>): Page<Chat> {
  const { limit, offset } = request
  const all = { ...bindFilter(request, scores), limit: -1, offset: 0 }
  const found = prepared<number>(db, findChats('newest')).pluck().all(all)
  const ranked = found.toSorted((left, right) => (scores.get(right) ?? 0) - (scores.get(left) ?? 0))
  return { items: readChats(db, ranked.slice(offset, offset + limit)), total: ranked.length, limit, offset }
}

const countChats = (db: Mirror, filter: object): number => prepared<number>(db, COUNT_CHATS).pluck().get(filter) ?? 0

function bindFilter(filter: ChatListRequest, scores: ReadonlyMap<number, number> | null): object {
  const { fromMs, toMs, idPrefix, archived, deleted } = filter
  return {
    projects: bindList(filter.projectNums),
    fromMs,
    toMs,
    modes: bindList(filter.mode),
    branches: bindList(filter.branch),
    models: bindList(filter.model),
    machines: bindList(filter.machineNums),
    archived: archived === null ? null : Number(archived),
    deleted: deleted === null ? null : Number(deleted),
    subagents: Number(filter.subagents),
    includeEmpty: Number(filter.includeEmpty),
    matches: bindList(scores === null ? null : [...scores.keys()]),
    idPrefix,
  }
}

/**
 * A link may name a chat that no source has any more. Its id is listed anyway, unless the id was only guessed, or is another
 * id of the chat itself.
 */
const CHILD_IDS = `
  select json_group_array(id) from (
    select links.id
    from (
      select child_id as id from chat_links where parent_id = c.id
      union
      select id from chats where parent_chat_id = c.id and is_subagent = 1
    ) links left join chats child on child.id = links.id
    where links.id <> c.id
      and (child.id is not null or '${CALL_CHAT_PREFIX}' not in (
        substr(links.id, 1, ${CALL_CHAT_PREFIX.length}), substr(c.id, 1, ${CALL_CHAT_PREFIX.length})
      ))
    order by child.created_at, links.id
  )
`

/**
 * Cursor says `generating`, or wrote a message in the last two minutes. A Cursor that was killed leaves the word, so it
 * counts for an hour.
 */
const IS_RUNNING = `(
  c.is_live = 1 and unixepoch('now') * 1000 - ifnull(c.last_activity_at, 0)
    < iif(c.status = 'generating', ${60 * 60_000}, ${2 * 60_000})
)`

const CHATS_BY_NUM = `
  select
    c.id, c.title, c.title_source as titleSource, c.summary, ${PROJECT_REF}, c.project_source as projectSource,
    iif(c.worktree is null, null, json_object('name', w.name, 'path', w.path)) as worktree,
    c.created_at as createdAt, c.last_activity_at as lastActivityAt,
    c.mode, c.branch, c.model, c.models, c.model_source as modelSource,
    c.message_count as messageCount, c.user_message_count as userMessageCount, c.tool_call_count as toolCallCount,
    c.size_bytes as sizeBytes, c.format, ${SOURCE_NAME}, case s.kind when '${ARCHIVE}' then s.path end as origin, c.status,
    c.is_archived as isArchived, c.is_subagent as isSubagent,
    iif(c.is_subagent = 0, null, coalesce(
      c.parent_chat_id,
      (select min(l.parent_id) from chat_links l where l.child_id = c.id and l.parent_id <> c.id)
    )) as parentChatId,
    (${CHILD_IDS}) as childChatIds,
    1 - c.is_live as deletedInCursor, c.deleted_at as deletedAt,
    c.lines_added as linesAdded, c.lines_removed as linesRemoved, c.files_changed as filesChanged,
    iif(coalesce(c.context_used, c.context_limit) is null, null,
      json_object('used', c.context_used, 'limit', c.context_limit, 'items', json(ifnull(c.context_items, '[]')))
    ) as contextTokens,
    c.recorded_cost_cents as recordedCostCents, ${IS_RUNNING} as running,
    ${isListedOnly('c')} as isListedOnly, ${MACHINE_REF}
  from json_each(?) wanted
  join chats c on c.num = wanted.value
  join sources s on s.num = c.source
  left join projects p on p.num = c.project
  left join projects w on w.num = c.worktree
  left join machines h on h.id = c.machine
  order by wanted.key
`

/** The chats of these row numbers, in the given order. Unknown numbers are left out. */
export const readChats = (db: Mirror, nums: readonly number[]): Chat[] =>
  prepared<Row>(db, CHATS_BY_NUM)
    .all(JSON.stringify(nums))
    .map((row) => answerRow<Chat>(row, ['project', 'worktree', 'models', 'childChatIds', 'contextTokens', 'machine']))

const NAMED_CHATS = `
  select c.num, c.id, c.title, ${PROJECT_REF}
  from json_each(?) wanted join chats c on c.num = wanted.value left join projects p on p.num = c.project
`

export interface NamedChat {
  readonly id: ChatId
  readonly title: string
  readonly project: ProjectRef | null
}

/** Chats by number. */
export function readNamedChats(db: Mirror, nums: readonly number[]): ReadonlyMap<number, NamedChat> {
  const rows = prepared<Row & { readonly num: number }>(db, NAMED_CHATS).all(JSON.stringify(nums))
  return new Map(rows.map(({ num, ...row }) => [num, answerRow<NamedChat>(row, ['project'])]))
}
