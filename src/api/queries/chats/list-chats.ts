import type { Mirror } from '../../../mirror/open.ts'
import { isOfMachines } from '../machines.ts'
import { matchTitles } from './match-titles.ts'
import type { Page, PageRequest } from '../../answers/common.ts'
import { inSnapshot } from '../snapshot.ts'
import type { Chat } from '../../answers/chats.ts'
import { CALL_CHAT_PREFIX } from '../../../model/chat.ts'
import { ARCHIVE } from '../../../mirror/sources/sources.ts'
import type { ChatId } from '../../../model/ids.ts'
import type { ProjectRef } from '../../answers/projects.ts'
import { answerRow, MACHINE_REF, PROJECT_REF, SOURCE_NAME, type Row } from '../answer-row.ts'

export const chatSorts = ['newest', 'oldest', 'size', 'messages'] as const
export type ChatSort = (typeof chatSorts)[number]

interface ChatFilter {
  /** From `resolveProjects`. An empty list matches nothing; null matches everything. */
  readonly projectNums: readonly number[] | null
  /** Epoch milliseconds, inclusive: the chat was active then or later. */
  readonly fromMs: number | null
  /** Epoch milliseconds, exclusive: the chat began before, or was active before if its start is unknown. */
  readonly toMs: number | null
  readonly modes: readonly string[] | null
  readonly branches: readonly string[] | null
  readonly models: readonly string[] | null
  /** From `resolveMachines`. An empty list matches nothing; null matches everything. */
  readonly machineNums: readonly number[] | null
  readonly archived: boolean | null
  readonly deleted: boolean | null
  /** True lists subagents too. */
  readonly subagents: boolean
  /** True lists drafts and chats without messages too. */
  readonly includeEmpty: boolean
  /** Words to find in titles; blank matches any title. */
  readonly titleWords: string | null
  /** Lists only the chats with these row numbers. The scores give the order unless a sort is named. Null: all chats. */
  readonly scores: ReadonlyMap<number, number> | null
}

export interface ChatListRequest extends PageRequest, ChatFilter {
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
`

const COUNT_CHATS = `select count(*) ${LISTED_CHATS}`
const COUNT_UNDATED = `${COUNT_CHATS} and c.last_activity_at is null`

/** Selects only row numbers. The wide rows are read just for the page, even if its offset is large. */
export const FIND_CHATS: Readonly<Record<ChatSort, string>> = {
  newest: `select c.num ${LISTED_CHATS} order by ${ORDERS.newest} limit @limit offset @offset`,
  oldest: `select c.num ${LISTED_CHATS} order by ${ORDERS.oldest} limit @limit offset @offset`,
  size: `select c.num ${LISTED_CHATS} order by ${ORDERS.size} limit @limit offset @offset`,
  messages: `select c.num ${LISTED_CHATS} order by ${ORDERS.messages} limit @limit offset @offset`,
}

/** A range of the index of ids, in the order of their bytes. No character is above U+10FFFF. */
export const CHATS_BY_ID_PREFIX = 'select num, id from chats where id >= @prefix and id < @prefix || char(0x10ffff)'

/**
 * The row numbers of the chats whose id begins with `prefix`. A whole id finds only its chat.
 * @param scores only these chats, with their scores; null: all chats
 */
export function scoresByIdPrefix(
  db: Mirror,
  prefix: string,
  scores: ReadonlyMap<number, number> | null,
): ReadonlyMap<number, number> {
  const rows = db.prepare<[object], { num: number; id: string }>(CHATS_BY_ID_PREFIX).all({ prefix })
  const whole = rows.filter(({ id }) => id === prefix)
  const found = (whole.length > 0 ? whole : rows).filter(({ num }) => scores?.has(num) ?? true)
  return new Map(found.map(({ num }) => [num, scores?.get(num) ?? 0]))
}

/** One page of the chats that pass the filter. With a date, also how many pass the other filters and have no time. */
export function listChats(db: Mirror, request: ChatListRequest): Page<Chat> & { readonly undated?: number } {
  const { fromMs, toMs } = request
  return inSnapshot(db, () => {
    const scores = readScores(db, request)
    if (fromMs === null && toMs === null) return listPage(db, request, scores)
    const others = bindFilter({ ...request, fromMs: null, toMs: null }, scores)
    const undated = db.prepare<[object], number>(COUNT_UNDATED).pluck().get(others) ?? 0
    return { ...listPage(db, request, scores), undated }
  })
}

function listPage(db: Mirror, request: ChatListRequest, scores: ReadonlyMap<number, number> | null): Page<Chat> {
  const { limit, offset } = request
  if (scores !== null && request.sort === null) return listByScore(db, request, scores)
  const filter = bindFilter(request, scores)
  const sql = FIND_CHATS[request.sort ?? 'newest']
  const nums = db
    .prepare<[object], number>(sql)
    .pluck()
    .all({ ...filter, limit, offset })
  return { items: readChats(db, nums), total: countChats(db, filter), limit, offset }
}

/**
 * The chats whose titles match, with scores for their order. If all chats of a better match are filtered out, for
 * example because they are drafts, a weaker match is used.
 */
function readScores(db: Mirror, request: ChatFilter): ReadonlyMap<number, number> | null {
  const words = request.titleWords?.trim() ?? ''
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
  const found = db.prepare<[object], number>(FIND_CHATS.newest).pluck().all(all)
  const ranked = found.toSorted((left, right) => (scores.get(right) ?? 0) - (scores.get(left) ?? 0))
  return { items: readChats(db, ranked.slice(offset, offset + limit)), total: ranked.length, limit, offset }
}

const countChats = (db: Mirror, filter: object): number =>
  db.prepare<[object], number>(COUNT_CHATS).pluck().get(filter) ?? 0

function bindFilter(filter: ChatFilter, scores: ReadonlyMap<number, number> | null): object {
  return {
    projects: bindList(filter.projectNums),
    fromMs: filter.fromMs,
    toMs: filter.toMs,
    modes: bindList(filter.modes),
    branches: bindList(filter.branches),
    models: bindList(filter.models),
    machines: bindList(filter.machineNums),
    archived: filter.archived === null ? null : Number(filter.archived),
    deleted: filter.deleted === null ? null : Number(filter.deleted),
    subagents: Number(filter.subagents),
    includeEmpty: Number(filter.includeEmpty),
    matches: scores === null ? null : JSON.stringify([...scores.keys()]),
  }
}

function bindList(values: readonly (string | number)[] | null): string | null {
  return values === null ? null : JSON.stringify(values)
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
    c.recorded_cost_cents as recordedCostCents, ${IS_RUNNING} as running, ${MACHINE_REF}
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
  db
    .prepare<[string], Row>(CHATS_BY_NUM)
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
  const rows = db.prepare<[string], Row & { readonly num: number }>(NAMED_CHATS).all(JSON.stringify(nums))
  return new Map(rows.map(({ num, ...row }) => [num, answerRow<NamedChat>(row, ['project'])]))
}
