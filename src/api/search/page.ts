import { countWaiting } from '../../mirror/index/index-file.ts'
import type { Mirror } from '../../mirror/open.ts'
import { prepared } from '../../mirror/sql.ts'
import { SLOTS_PER_MS } from '../../mirror/write/messages.ts'
import { parseParts } from '../../mirror/write/pack-message.ts'
import type { Part } from '../../model/part.ts'
import type { TermMatcher } from '../../text/passages/matcher.ts'
import { makeSnippet } from '../../text/passages/snippet.ts'
import { searchablePieces, searchableText } from '../../text/terms/columns.ts'
import type { FacetValue, SearchHit } from '../answers/search.ts'
import { Masking } from '../export/redact/masking.ts'
import { monthOf } from '../periods.ts'
import { MACHINE_REF, PROJECT_REF, type Row, answerRow } from '../queries/rows.ts'
import { LOCAL } from '../queries/scope.ts'
import { FIRST_DATED_KEY, type Plan, planQuery } from './plan.ts'
import { type FacetName, type QueryNode, type SearchRequest, filterNodes, partNames } from './query.ts'
import { type RankedMessage, type Scorer, rankMatches } from './rank.ts'
import { COUNTED_MAX, type Newest, type TimeOrder, keysOf, newestMessages } from './statement.ts'
import { TITLES_MAX, type Title, type TitleHits, countHits, titlesBeside } from './titles.ts'

/** One hit: a message, with the chat's title if the title is what matched. */
export interface Found {
  readonly key: number
  readonly score: number
  readonly titled?: { readonly title: string; readonly summary: string | null } | null
  /** The parts of the message, if they were read before. */
  readonly parts?: readonly Part[] | undefined
  /** Of a chat's best message: how many of its messages match. */
  readonly counts?: Required<Pick<SearchHit, 'matchCount' | 'matchCountIsExact'>>
}

type HitRow = Row & { readonly parts: string | null }
type HitColumns = SearchHit['message'] & SearchHit['chat'] & Pick<SearchHit, 'project'>

const SELECT_HIT = `
  select m.id, c.id as chatId, m.position, m.role, m.created_at as createdAt, m.model, m.is_orphan <> 0 as isOrphan,
    c.title, ${PROJECT_REF}, ${MACHINE_REF}, b.parts
  from messages m
  join chats c on c.num = m.chat
  left join bodies b on b.num = m.body
  left join projects p on p.num = c.project
  left join machines h on h.id = c.machine
  where m.key = @key
`

/** Makes the hits of one page. Texts of messages are read only here. */
export function makeHits(
  db: Mirror,
  found: readonly Found[],
  matcher: TermMatcher,
  { isRedacted = false }: Pick<SearchRequest, 'isRedacted'>,
): readonly SearchHit[] {
  // A message is masked whole, by its keys too. Half of a key in a passage would not be known as one.
  const toShow = <Value>(value: Value): Value => (isRedacted ? new Masking().mask(value) : value)
  const statement = prepared<HitRow>(db, SELECT_HIT)
  return found.flatMap(({ key, score, titled = null, parts, counts }) => {
    const row = statement.get({ key: BigInt(key) })
    if (row === undefined) return []
    const { parts: json, ...rest } = row
    const { title, project, machine, ...message } = answerRow<HitColumns>(rest, ['project', 'machine'])
    const shown =
      titled === null
        ? showPart(toShow(parts ?? (json === null ? [] : parseParts(json))), matcher)
        : showTitle(toShow(titled), matcher)
    return {
      message,
      ...shown,
      chat: { id: message.chatId, title: toShow(title), machine },
      project: project === null ? null : { ...project, name: toShow(project.name) },
      // Significant digits, not decimals: a word that is in most messages has a weight of about a millionth.
      score: Number(score.toPrecision(6)),
      ...counts,
    }
  })
}

type Shown = Pick<SearchHit, 'part' | 'toolName' | 'snippet'>

const showTitle = ({ title, summary }: NonNullable<Found['titled']>, matcher: TermMatcher): Shown =>
  showBest(
    [title, summary ?? ''].map((text) => ({ part: null, text, column: 'title' })),
    matcher,
  )

const showPart = (parts: readonly Part[], matcher: TermMatcher): Shown =>
  showBest(
    parts.flatMap((part) => searchablePieces(part).map((piece) => ({ ...piece, part }))),
    matcher,
  )

interface Piece {
  readonly part: Part | null
  readonly text: string
  readonly column: SearchHit['part']
}

/** The piece with most of the words, in the column with most of them; of equally good ones the first. */
function showBest(given: readonly Piece[], matcher: TermMatcher): Shown {
  const pieces = given.map((piece) => {
    const matches = matcher.find(piece.text, piece.column === 'title' ? undefined : piece.column)
    return { ...piece, matches, words: new Set(matches.map(({ word }) => word)) }
  })
  const wordsIn = (some: typeof pieces): number => new Set(some.flatMap(({ words }) => [...words])).size
  const [best] = partNames
    .map((name) => pieces.filter(({ column }) => column === name))
    .filter(({ length }) => length > 0)
    .toSorted((a, b) => wordsIn(b) - wordsIn(a))
    .flatMap((some) => some.toSorted((a, b) => b.words.size - a.words.size))
  if (best === undefined) return { part: 'text', toolName: null, snippet: '' }
  const { part, column } = best
  const toolName = part?.kind === 'tool' ? part.name : null
  // Words may be in the prose of a text and in its code: both are shown.
  const text = part?.kind === 'text' ? searchableText(part) : best.text
  const matches = part?.kind === 'text' ? matcher.find(text) : best.matches
  return { part: column, toolName, snippet: makeSnippet(text, matches) }
}

/** One page of the answer: messages and title hits in one order. */
export interface Page {
  readonly found: readonly Found[]
  readonly total: number
  readonly isExact: boolean
  /** Keys of the newest matching messages, as far as known, and the number of title hits besides them. */
  readonly newest: readonly number[]
  readonly titles: number
}

type PageOptions = Pick<SearchRequest, 'sort' | 'group' | 'limit' | 'offset'>

/** @param scorer null if the order is by time @param every null if nothing is grouped or counted */
export function findPage(
  db: Mirror,
  plan: Plan,
  options: PageOptions,
  scorer: Scorer | null,
  every: EveryHit | null,
): Page {
  if (options.group === 'chat' && every !== null) return pageOfGroups(db, plan, options, scorer, every)
  return scorer === null ? pageByTime(db, plan, options) : pageByRank(db, plan, options, scorer)
}

const foundTitle = ({ key, title, summary }: Title, scorer: Scorer | null): Found => ({
  key,
  score: scorer?.scoreTitle(key, title, summary) ?? 0,
  titled: { title, summary },
})

function pageByTime(db: Mirror, plan: Plan, options: PageOptions): Page {
  const end = options.offset + options.limit
  const isDown = options.sort !== 'oldest'
  const order: TimeOrder = isDown ? 'newest' : 'oldest'
  const newest = newestMessages(db, plan.messages, Math.max(COUNTED_MAX, isDown ? end : 0))
  const oldest = newest.isWhole ? newest.keys.toReversed() : keysOf(db, plan.messages, end, { order })
  const keys = isDown ? newest.keys : oldest
  const titles = titlesBeside(db, plan, newest, { by: order, edge: keys[end - 1] ?? (isDown ? 0 : Infinity) })
  const messages = keys.slice(0, end).map((key) => ({ key, score: 0 }))
  const listed = [...messages, ...titles.hits.map((hit) => foundTitle(hit, null))]
  return pageOf(listed.sort(byTime(options)), titles, options, newest)
}

function pageByRank(db: Mirror, plan: Plan, options: PageOptions, scorer: Scorer): Page {
  const end = options.offset + options.limit
  const { messages, newest: keys, isWhole } = rankMatches(db, plan, scorer)
  const scoreOf = ({ title, summary }: Title): number => scorer.scoreTitle(Infinity, title, summary)
  const titles = titlesBeside(db, plan, { keys, isWhole }, { by: 'score', scoreOf })
  const best = [...messages, ...titles.hits.map((hit) => foundTitle(hit, scorer))].sort(byScore)
  // Only the newest matches are ranked. The others follow by time.
  const ranked = new Set(messages.map(({ key }) => key))
  const older = best.length < end && !isWhole ? keysOf(db, plan.messages, end + ranked.size) : []
  const rest = older.filter((key) => !ranked.has(key)).map((key) => ({ key, score: 0 }))
  return pageOf([...spread(db, best), ...rest], titles, options, { keys, isWhole })
}

/** Of so many first hits by relevance, only so many are of one chat, if others match. */
const FIRST = 10
const OF_ONE_CHAT = 2
/** The chats of so many hits are looked up at once. */
const LOOKED_UP = 32

/** The same hits, the first of them from several chats. No hit has a higher score than one before it. */
function spread(db: Mirror, found: readonly Found[]): readonly Found[] {
  const [first, later]: [Found[], Found[]] = [[], []]
  const counts = new Map<number, number>()
  for (let at = 0; at < found.length && first.length < FIRST; at += LOOKED_UP) {
    const some = found.slice(at, at + LOOKED_UP)
    for (const [index, chat] of chatsOf(db, some).entries()) {
      const [hit, count] = [some[index], counts.get(chat) ?? 0]
      counts.set(chat, count + 1)
      if (hit !== undefined) (first.length < FIRST && count < OF_ONE_CHAT ? first : later).push(hit)
    }
  }
  let least = Infinity
  return [...first, ...later, ...found.slice(first.length + later.length)].map((hit) => {
    least = Math.min(least, hit.score)
    return { ...hit, score: least }
  })
}

type Better = (a: Found, b: Found) => number

const byScore: Better = (a, b) => b.score - a.score || b.key - a.key
const byTime =
  ({ sort }: PageOptions): Better =>
  (a, b) =>
    sort === 'oldest' ? a.key - b.key : b.key - a.key

function pageOf(
  listed: readonly Found[],
  titles: TitleHits,
  { offset, limit }: Pick<PageOptions, 'offset' | 'limit'>,
  { keys, isWhole }: Newest,
): Page {
  const found = listed.slice(offset, offset + limit)
  const count = keys.length + titles.hits.length
  return {
    found,
    total: Math.max(Math.min(COUNTED_MAX, count), found.length === 0 ? 0 : offset + found.length),
    isExact: isWhole && titles.isWhole && count <= COUNTED_MAX,
    newest: keys,
    titles: titles.hits.length,
  }
}

/** One item per chat, in the order of their best messages. */
function pageOfGroups(
  db: Mirror,
  plan: Plan,
  options: PageOptions,
  scorer: Scorer | null,
  { newest, counted, titles, isIndexed }: EveryHit,
): Page {
  const isBetter = scorer === null ? byTime(options) : byScore
  const groups = new Map<number, { best: Found; matchCount: number }>()
  const add = (chat: number, message: Found, count: number): void => {
    const group = groups.get(chat) ?? { best: message, matchCount: 0 }
    group.matchCount += count
    if (isBetter(message, group.best) < 0) group.best = message
    groups.set(chat, group)
  }
  // A title represents a chat without a matching message. Its first message is counted.
  for (const hit of titles.hits) add(hit.num, foundTitle(hit, scorer), 0)
  for (const { value, firstKey, lastKey, count } of counted.filter(({ facet }) => facet === 'chat')) {
    add(Number(value), { key: lastKey, score: 0 }, count)
    add(Number(value), { key: firstKey, score: 0 }, 0)
  }
  const ranked = scorer === null ? [] : rankMatches(db, plan, scorer).messages
  // Older ranked messages are not among the counted ones.
  const edge = newest.isWhole ? 0 : (newest.keys.at(-1) ?? 0)
  const chats = chatsOf(db, ranked)
  for (const [at, message] of ranked.entries()) {
    add(chats[at] ?? 0, message, message.key < edge ? 1 : 0)
  }
  const all = [...groups.values()].sort((a, b) => isBetter(a.best, b.best))
  const matchCountIsExact = newest.isWhole && isIndexed
  const found = all
    .slice(options.offset, options.offset + options.limit)
    .map(({ best, matchCount }) => ({ ...best, counts: { matchCount, matchCountIsExact } }))
  const isExact = newest.isWhole && titles.isWhole
  return { found, total: groups.size, isExact, newest: newest.keys, titles: titles.hits.length }
}

// A left join walks the keys in their order.
const CHATS_OF_KEYS = `
  select m.chat from json_each(?) k left join messages m indexed by message_facts on m.key = k.value
`

const chatsOf = (db: Mirror, messages: readonly Pick<RankedMessage, 'key'>[]): readonly number[] =>
  prepared<number>(db, CHATS_OF_KEYS, 'values').all(JSON.stringify(messages.map(({ key }) => key)))

/** What is counted of some messages: by the values of facets, and by chat for groups. */
interface Counted {
  readonly facet: string
  /** The number of a chat, or the value of a facet. */
  readonly value: string
  readonly label: string
  readonly count: number
  readonly firstKey: number
  readonly lastKey: number
}

/** How many values of a facet are returned. */
const VALUES_MAX = 100
const MODEL = 'ifnull(a.model, c.model)'
const TOOL = 'substr(mark.value, 6)'

/** What is counted of messages that are alike, over `a` and their chat `c`, and what is joined for it. */
const counters: Readonly<Record<string, readonly [value: string, label: string, joined: string]>> = {
  chat: ['a.chat', `''`, ''],
  project: ['p.id', 'p.name', 'join projects p on p.num = c.project'],
  // With the user, because several users may have a machine of the same name.
  machine: [
    `ifnull(h.user || '/' || h.name, '${LOCAL}')`,
    `ifnull(h.name, '${LOCAL}')`,
    'left join machines h on h.id = c.machine',
  ],
  role: ['a.role', 'a.role', ''],
  // A message without a model has the model of its chat.
  model: [MODEL, MODEL, ''],
  tool: [TOOL, TOOL, `join json_each(a.marks) mark on mark.value glob 'tool:*'`],
}

/** Reads each message once, for groups and all facets. The most frequent values are first. */
function countValues(db: Mirror, keys: readonly number[], names: readonly string[]): readonly Counted[] {
  const selects = names.flatMap((name) => {
    const [value, label, joined] = counters[name] ?? []
    if (value === undefined) return []
    const columns = `'${name}' as facet, ${value} as value, ${label} as label, sum(a.count) as count`
    return `select * from (
      select ${columns}, min(a.firstKey) as firstKey, max(a.lastKey) as lastKey
      from alike a cross join chats c on c.num = a.chat ${joined} where ${value} is not null
      group by 2 order by 4 desc, 3, 2 limit ${name === 'chat' ? -1 : VALUES_MAX}
    )`
  })
  if (selects.length === 0) return []
  const isMarked = names.includes('tool')
  const sql = `
    with alike as materialized (
      select m.chat, m.role, m.model, ${isMarked ? 'm.marks' : 'null'} as marks,
        count(*) as count, min(m.key) as firstKey, max(m.key) as lastKey
      from json_each(?) k cross join messages m ${isMarked ? '' : 'indexed by message_facts'} on m.key = k.value
      group by 1, 2, 3, 4
    )
    ${selects.join(' union all ')}
  `
  return prepared<Counted>(db, sql).all(JSON.stringify(keys))
}

/** How many of the newest matching messages are grouped, and counted by facets. */
const EVERY_MAX = 20_000

/** The hits that are grouped and counted by facets. */
export interface EveryHit {
  readonly newest: Newest
  readonly titles: TitleHits
  /** Of the newest messages and of those that represent a title. */
  readonly counted: readonly Counted[]
  /** False while older messages wait to be indexed: then every count is a lower bound. */
  readonly isIndexed: boolean
}

/** @param names facets, and `chat` for groups */
export function findEveryHit(db: Mirror, plan: Plan, names: readonly string[]): EveryHit {
  const newest = newestMessages(db, plan.messages, EVERY_MAX)
  const titles = titlesBeside(db, plan, newest, null)
  const counted = countValues(db, [...newest.keys, ...titles.hits.map(({ key }) => key)], [...new Set(names)])
  return { newest, titles, counted, isIndexed: countWaiting(db) === 0 }
}

/** The filters that choose a value of a facet, if they have another name. */
const filtersOfFacet: Readonly<Partial<Record<FacetName, readonly string[]>>> = { part: ['in'], month: ['from', 'to'] }

/**
 * Counts the hits by project, tool and so on: how many there would be with that value. So the filter of a facet's own
 * values does not apply to its counts: they are those of choosing another one.
 */
export function countFacets(db: Mirror, tree: QueryNode | null, request: SearchRequest, every: EveryHit) {
  const { clock } = request
  const filters = Object.entries(request.filters)
  const counts = request.facets.map((name): readonly [FacetName, readonly FacetValue[], EveryHit] => {
    const own = filtersOfFacet[name] ?? [name]
    const others = filters.filter(([filter]) => !own.includes(filter))
    const trees = [...filterNodes(Object.fromEntries(others)), ...(tree === null ? [] : [tree])]
    const isFree = others.length === filters.length
    const hits = isFree ? every : findEveryHit(db, planQuery(db, trees, clock), [name])
    const { newest, titles, counted, isIndexed } = hits
    if (name === 'part') return [name, countParts(db, trees, clock, isIndexed), hits]
    const keys = [...newest.keys, ...titles.hits.map(({ key }) => key)]
    const found = name === 'month' ? countMonths(keys, clock.timeZone) : counted.filter(({ facet }) => facet === name)
    const countIsExact = isIndexed && newest.isWhole && titles.isWhole
    return [name, found.map(({ value, label, count }) => ({ value, label, count, countIsExact })), hits]
  })
  return {
    facets: Object.fromEntries(counts.map(([name, values]) => [name, values])),
    warnings: counts.flatMap(([, , { newest, titles }]) => [
      ...(newest.isWhole ? [] : [`The facets count only the newest ${EVERY_MAX} matching messages.`]),
      ...(titles.isWhole ? [] : [`Of chats that match only by title, the facets count the newest ${TITLES_MAX}.`]),
    ]),
  }
}

/** The newest month first. Keys are in the order of time, and those without a time are the least. */
function countMonths(keys: readonly number[], timeZone: string): readonly Omit<FacetValue, 'countIsExact'>[] {
  const months: { value: string; label: string; count: number }[] = []
  let startMs = Infinity
  for (const key of keys.toSorted((a, b) => b - a)) {
    if (key < FIRST_DATED_KEY) break
    const atMs = Math.floor(key / SLOTS_PER_MS)
    if (atMs < startMs) {
      const month = monthOf(atMs, timeZone)
      startMs = month.startMs
      months.push({ value: month.name, label: month.name, count: 0 })
    }
    const last = months.at(-1)
    if (last !== undefined) last.count += 1
  }
  return months.slice(0, VALUES_MAX)
}

/** Counts with one search per part: a message counts if the whole query matches in that kind of part. */
function countParts(
  db: Mirror,
  trees: readonly QueryNode[],
  clock: SearchRequest['clock'],
  isIndexed: boolean,
): readonly FacetValue[] {
  const counts = partNames.map((name): FacetValue => {
    const within: QueryNode = { kind: 'field', name: 'in', values: [name] }
    const { count, isExact } = countHits(db, planQuery(db, [within, ...trees], clock))
    return { value: name, label: name, count, countIsExact: isExact && isIndexed }
  })
  return counts.filter(({ count }) => count > 0).sort((a, b) => b.count - a.count)
}
