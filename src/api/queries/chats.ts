import type { Mirror } from '../../mirror/open.ts'
import { IN_SCOPE, type Scope } from './scope.ts'
import type { Page, PageRequest } from '../answers/common.ts'
import { inSnapshot, answerRow, bind, MACHINE_REF, PROJECT_REF, SOURCE_NAME, type Row } from './rows.ts'
import type { Chat, ChatDetail, ChatRef, ChatFile, ToolCount } from '../answers/chats.ts'
import { CALL_CHAT_PREFIX } from '../../model/chat.ts'
import { ARCHIVE } from '../../mirror/sources/sources.ts'
import { prepared } from '../../mirror/sql.ts'
import { isListedOnly } from '../../mirror/write/chat-columns.ts'
import MiniSearch, { type Options } from 'minisearch'
import { visitLoweredWords, tokenize } from '../../text/terms/terms.ts'
import type { ChatId } from '../../model/ids.ts'
import { toolsByUse } from './files.ts'
import { sumTokens } from './tokens.ts'

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
    and ${IN_SCOPE}
    and (@mode is null or c.mode in (select value from json_each(@mode)))
    and (@branch is null or c.branch in (select value from json_each(@branch)))
    and (
      @model is null
      or c.model in (select value from json_each(@model))
      or exists (select 1 from json_each(c.models) m where m.value in (select value from json_each(@model)))
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

type Scores = ReadonlyMap<number, number> | null

/** One page of the chats that pass the filter. With a date, also how many pass the other filters and have no time. */
export function listChats(db: Mirror, request: ChatListRequest): Page<Chat> & { readonly undated?: number } {
  const { fromMs, toMs } = request
  return inSnapshot(db, () => {
    const scores = readScores(db, request)
    const page = listPage(db, request, scores)
    if (fromMs === null && toMs === null) return page
    const others = bindFilter({ ...request, fromMs: null, toMs: null }, scores)
    return { ...page, undated: prepared<number>(db, COUNT_UNDATED).pluck().get(others) ?? 0 }
  })
}

function listPage(db: Mirror, request: ChatListRequest, scores: Scores): Page<Chat> {
  const { sort, limit, offset } = request
  const filter = bindFilter(request, scores)
  const find = prepared<number>(db, findChats(sort ?? 'newest')).pluck()
  if (scores === null || sort !== null) {
    return { items: readChats(db, find.all(filter)), total: countChats(db, filter), limit, offset }
  }
  // The scores are not in the database, so the chats are sorted here. Of equal scores, the newest chat is first.
  const found = find.all({ ...filter, limit: -1, offset: 0 })
  const ranked = found.toSorted((left, right) => (scores.get(right) ?? 0) - (scores.get(left) ?? 0))
  return { items: readChats(db, ranked.slice(offset, offset + limit)), total: ranked.length, limit, offset }
}

/**
 * The chats whose titles match, with scores for their order. If all chats of a better match are filtered out, for
 * example because they are drafts, a weaker match is used.
 */
function readScores(db: Mirror, request: ChatListRequest): Scores {
  const words = request.q?.trim() ?? ''
  if (words === '') return request.scores
  for (const titles of matchTitles(db, words)) {
    const scores = new Map([...titles].filter(([num]) => request.scores?.has(num) ?? true))
    if (countChats(db, bindFilter(request, scores)) > 0) return scores
  }
  return new Map()
}

const countChats = (db: Mirror, filter: object): number => prepared<number>(db, COUNT_CHATS).pluck().get(filter) ?? 0

const bindFilter = (request: ChatListRequest, scores: Scores) =>
  bind({ ...request, matches: scores === null ? null : [...scores.keys()] })

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

interface ChatTitle {
  readonly num: number
  readonly title: string
  readonly revision: number
}

/** Of a chat without messages, what its own row has of them counts as its title. Oldest write first. */
const CHAT_TITLES = `
  select num, iif(preview is null, title, title || char(10) || preview) as title, revision
  from chats
  where revision > ?
  order by revision
`

interface TitleIndex {
  readonly titles: MiniSearch<ChatTitle>
  revision: number
}

/** One index per connection: a replaced mirror gets a new connection and must not use the titles of the old one. */
const indexes = new WeakMap<Mirror, TitleIndex>()

/**
 * Row numbers of the chats whose titles match these words, with a score; higher is better. Typos and unfinished words
 * match too. First yields the titles that match all words, then those that match any: the caller takes the next answer if
 * it can use nothing of the last one. A number may belong to a deleted chat, so the caller must look it up.
 */
export function* matchTitles(db: Mirror, words: string): Generator<ReadonlyMap<number, number>> {
  const { titles } = freshIndex(db)
  for (const combineWith of ['AND', 'OR'] as const) {
    const hits = titles.search(words, { fuzzy: 0.2, prefix: true, combineWith })
    if (hits.length > 0) yield new Map(hits.map((hit) => [Number(hit.id), hit.score]))
  }
}

/** Tokenizes like the full-text index, which also folds case and accents. So `processTerm` has nothing to do. */
const TITLE_OPTIONS: Options<ChatTitle> = {
  idField: 'num',
  fields: ['title'],
  tokenize: (text) => [...cut(text), ...loweredWords(text)],
  searchOptions: { tokenize: cut },
  processTerm: (term) => term,
}

function freshIndex(db: Mirror): TitleIndex {
  const index = indexes.get(db) ?? { titles: new MiniSearch(TITLE_OPTIONS), revision: 0 }
  indexes.set(db, index)
  for (const title of prepared<ChatTitle>(db, CHAT_TITLES).all(index.revision)) {
    if (index.titles.has(title.num)) index.titles.replace(title)
    else index.titles.add(title)
    index.revision = title.revision
  }
  return index
}

function cut(text: string): string[] {
  return tokenize(text).map((term) => term.term)
}

function loweredWords(text: string): string[] {
  const words: string[] = []
  visitLoweredWords(text, (word) => words.push(word))
  return words
}

const CHAT_NUM = `select num from chats where id = ?`

/** The row number of a chat, for other queries; null if no chat has this id. */
export function findChatNum(db: Mirror, id: ChatId): number | null {
  return prepared<number>(db, CHAT_NUM).pluck().get(id) ?? null
}

/** One chat with its files, tools and subagents; null if no chat has this id. */
export function getChat(db: Mirror, id: ChatId): ChatDetail | null {
  return inSnapshot(db, () => {
    const num = findChatNum(db, id)
    const chat = num === null ? undefined : readChats(db, [num])[0]
    if (num === null || chat === undefined) return null
    return {
      ...chat,
      toolCounts: prepared<ToolCount>(db, TOOLS).all(num),
      files: prepared<ChatFile>(db, FILES).all({ num, ...toolsByUse(db) }),
      tokens: sumTokens(db, num),
      children: readRefs(db, chat.childChatIds),
      alternatives: readRefs(db, prepared<ChatId>(db, ALTERNATIVES).pluck().all(num)),
    }
  })
}

/** The chat of the first answer, and all that name it and are no subagents. */
const ALTERNATIVES = `
  with first as (select id as own, iif(is_subagent = 0, ifnull(parent_chat_id, id), id) as id from chats where num = ?)
  select c.id from first join chats c on c.id = first.id or c.parent_chat_id = first.id and c.is_subagent = 0
  where c.id <> first.own order by c.created_at, c.id
`

const CHAT_REFS = `
  select
    c.id, c.title, c.mode, c.created_at as createdAt, c.last_activity_at as lastActivityAt,
    c.message_count as messageCount, c.is_subagent as isSubagent, 1 - c.is_live as deletedInCursor
  from json_each(?) wanted
  join chats c on c.id = wanted.value
  order by wanted.key
`

const readRefs = (db: Mirror, ids: readonly ChatId[]): ChatRef[] =>
  prepared<Row>(db, CHAT_REFS)
    .all(JSON.stringify(ids))
    .map((row) => answerRow<ChatRef>(row))

const TOOLS = `
  select u.tool as name, count(*) as calls, count(*) filter (where u.status = 'error') as errors,
    count(*) filter (where u.status = 'rejected') as rejected
  from messages m cross join calls u on u.body = m.body
  where m.chat = ? and m.is_orphan = 0 and u.file = 0 group by 1 order by calls desc, name
`
/** Orphans do not count. Failed and rejected calls used no file. A damaged body has no attachments. */
const FILES = `
  select path, sum(isRead) as reads, sum(isEdit) as edits, sum(isAttached) as attached
  from (
    select u.path, u.tool in (select value from json_each(@reading)) as isRead,
      u.tool in (select value from json_each(@editing)) as isEdit, 0 as isAttached
    from messages m cross join calls u on u.body = m.body
    where m.chat = @num and m.is_orphan = 0 and u.path is not null and u.status in ('completed', 'running')
    union all
    select part.value ->> 'path', 0, 0, 1
    from messages m join bodies b on b.num = m.body
    join json_each(iif(json_valid(b.parts), b.parts, '[]')) part on part.value ->> 'kind' = 'attachment'
    where m.chat = @num and m.is_orphan = 0 and m.marks like '%"in:attachment"%'
  )
  where isRead + isEdit + isAttached > 0
  group by path order by count(*) desc, path
`
