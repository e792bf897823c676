import type { Mirror } from '../../mirror/open.ts'
import type { Alike, EveryHit } from './facets.ts'
import type { Plan } from './plan.ts'
import { rankMatches, type RankedMessage, type Scorer } from './rank.ts'
import type { SearchRequest } from './query.ts'
import { COUNTED_MAX, keysOf, newestMessages, statementOf, type Newest, type TimeOrder } from './statement.ts'
import { titlesBeside, type Title, type TitleHits } from './titles.ts'
import { Masking } from '../export/redact/masking.ts'
import type { ChatId } from '../../model/ids.ts'
import type { Part } from '../../model/part.ts'
import { columnNames, searchablePieces, searchableText, type ColumnName } from '../../text/terms/columns.ts'
import type { TermMatch, TermMatcher } from '../../text/passages/matcher.ts'
import { makeSnippet } from '../../text/passages/snippet.ts'
import { answerRow, MACHINE_REF, PROJECT_REF, type Row } from '../queries/answer-row.ts'
import type { SearchHit } from '../answers/search.ts'
import { parseParts } from '../../mirror/write/pack-message.ts'

/** One hit: a message, with the chat's title if the title is what matched. */
export interface Found {
  readonly key: number
  readonly score: number
  readonly titled: { readonly title: string; readonly summary: string | null } | null
  /** The parts of the message, if they were read before. */
  readonly parts?: readonly Part[] | undefined
}

type HitRow = Row & { readonly chatId: ChatId; readonly title: string; readonly parts: string | null }

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

type Shape = Pick<SearchRequest, 'isRedacted'>

/** Makes the hits of one page. Texts of messages are read only here. */
export function makeHits(
  db: Mirror,
  found: readonly Found[],
  matcher: TermMatcher,
  { isRedacted = false }: Shape,
): readonly SearchHit[] {
  // A message is masked whole, by its keys too. Half of a key in a passage would not be known as one.
  const toShow = <Value>(value: Value): Value => (isRedacted ? new Masking().mask(value) : value)
  const statement = statementOf<HitRow>(db, SELECT_HIT)
  return found.flatMap((each) => {
    const row = statement.get({ key: BigInt(each.key) })
    return row === undefined ? [] : [makeHit(row, each, matcher, toShow)]
  })
}

type ToShow = <Value>(value: Value) => Value

function makeHit(row: HitRow, found: Found, matcher: TermMatcher, toShow: ToShow): SearchHit {
  const { title, project, machine, parts, ...message } = row
  const { machine: ofMachine, project: ofProject } = answerRow<
    Pick<SearchHit, 'project'> & Pick<SearchHit['chat'], 'machine'>
  >({ project: project ?? null, machine: machine ?? null }, ['project', 'machine'])
  const shown =
    found.titled === null
      ? showPart(toShow(found.parts ?? (parts === null ? [] : parseParts(parts))), matcher)
      : showTitle(toShow(found.titled), matcher)
  return {
    message: answerRow(message),
    ...shown,
    chat: { id: row.chatId, title: toShow(title), machine: ofMachine },
    project: ofProject === null ? null : { ...ofProject, name: toShow(ofProject.name) },
    // Significant digits, not decimals: a word that is in most messages has a weight of about a millionth.
    score: Number(found.score.toPrecision(6)),
  }
}

type Shown = Pick<SearchHit, 'part' | 'toolName' | 'snippet'>

function showTitle(titled: { readonly title: string; readonly summary: string | null }, matcher: TermMatcher): Shown {
  const texts = [titled.title, titled.summary ?? ''].map((text) => ({ text, found: matcher.find(text) }))
  const [best] = texts.toSorted((a, b) => wordsOf(b.found).size - wordsOf(a.found).size)
  return { part: 'title', toolName: null, snippet: makeSnippet(best?.text ?? '', best?.found ?? []) }
}

/** The piece with most of the words, in the column with most of them; of equally good ones the first. */
function showPart(parts: readonly Part[], matcher: TermMatcher): Shown {
  const pieces = parts.flatMap((part) =>
    searchablePieces(part).map(({ text, column }) => {
      const matches = matcher.find(text, column)
      return { part, text, column, matches, words: wordsOf(matches) }
    }),
  )
  const wordsIn = (column: ColumnName): number =>
    new Set(pieces.flatMap((each) => (each.column === column ? [...each.words] : []))).size
  const [column] = columnNames
    .filter((name) => pieces.some((each) => each.column === name))
    .toSorted((a, b) => wordsIn(b) - wordsIn(a))
  const [best] = pieces.filter((each) => each.column === column).toSorted((a, b) => b.words.size - a.words.size)
  if (best === undefined) return { part: 'text', toolName: null, snippet: '' }
  const toolName = best.part.kind === 'tool' ? best.part.name : null
  // Words may be in the prose of a text and in its code: both are shown.
  if (best.part.kind !== 'text') return { part: best.column, toolName, snippet: makeSnippet(best.text, best.matches) }
  const text = searchableText(best.part)
  return { part: best.column, toolName, snippet: makeSnippet(text, matcher.find(text)) }
}

const wordsOf = (matches: readonly TermMatch[]): ReadonlySet<number> => new Set(matches.map(({ word }) => word))

/** One page of the answer: messages and title hits in one order. */
export interface Page {
  readonly found: readonly Found[]
  readonly total: number
  readonly isExact: boolean
  /** Keys of the newest matching messages, as far as known, and the number of title hits besides them. */
  readonly newest: readonly number[]
  readonly titles: number
}

type PageOptions = Pick<SearchRequest, 'sort' | 'limit' | 'offset'>

/** @param scorer null if the order is by time */
export function findPage(db: Mirror, plan: Plan, options: PageOptions, scorer: Scorer | null): Page {
  return scorer === null
    ? pageByTime(db, plan, options, options.sort === 'oldest' ? 'oldest' : 'newest')
    : pageByRank(db, plan, options, scorer)
}

const foundMessage = ({ key, score = 0, parts }: Partial<RankedMessage> & { readonly key: number }): Found => ({
  key,
  score,
  titled: null,
  parts,
})

const foundTitle = ({ key, title, summary }: Title, scorer: Scorer | null): Found => ({
  key,
  score: scorer?.scoreTitle(key, title, summary) ?? 0,
  titled: { title, summary },
})

function pageByTime(db: Mirror, plan: Plan, options: PageOptions, order: TimeOrder): Page {
  const end = options.offset + options.limit
  const isDown = order === 'newest'
  const newest = newestMessages(db, plan.messages, Math.max(COUNTED_MAX, isDown ? end : 0))
  const oldest = newest.isWhole ? newest.keys.toReversed() : keysOf(db, plan.messages, end, { order })
  const keys = isDown ? newest.keys : oldest
  const titles = titlesBeside(db, plan, newest, { by: order, edge: keys[end - 1] ?? (isDown ? 0 : Infinity) })
  const listed = [
    ...keys.slice(0, end).map((key) => foundMessage({ key })),
    ...titles.hits.map((hit) => foundTitle(hit, null)),
  ]
  const sorted = listed.sort((a, b) => (isDown ? b.key - a.key : a.key - b.key))
  return pageOf(sorted, titles, options, newest)
}

function pageByRank(db: Mirror, plan: Plan, options: PageOptions, scorer: Scorer): Page {
  const end = options.offset + options.limit
  const { messages, newest: keys, isWhole } = rankMatches(db, plan, scorer)
  const scoreOf = ({ title, summary }: Title): number => scorer.scoreTitle(Infinity, title, summary)
  const titles = titlesBeside(db, plan, { keys, isWhole }, { by: 'score', scoreOf })
  const best = [...messages.map(foundMessage), ...titles.hits.map((hit) => foundTitle(hit, scorer))].sort(byScore)
  // Only the newest matches are ranked. The others follow by time.
  const ranked = new Set(messages.map(({ key }) => key))
  const older = best.length < end && !isWhole ? keysOf(db, plan.messages, end + ranked.size) : []
  const rest = older.filter((key) => !ranked.has(key)).map((key) => foundMessage({ key }))
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

const byScore = (a: Found, b: Found): number => b.score - a.score || b.key - a.key

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

/** A chat's best message, and how many of its messages match. A title counts as one. */
interface Group {
  best: Found
  matchCount: number
}

export interface Groups {
  readonly page: readonly (Group & { readonly matchCountIsExact: boolean })[]
  /** How many chats. */
  readonly total: number
  readonly isExact: boolean
}

/** One item per chat, in the order of their best messages. @param scorer null if the order is by time */
export function findGroups(
  db: Mirror,
  plan: Plan,
  { sort, offset, limit }: PageOptions,
  scorer: Scorer | null,
  { newest, alike, titles, isIndexed }: EveryHit,
): Groups {
  const ranked = scorer === null ? [] : rankMatches(db, plan, scorer).messages
  const byTime = (a: Found, b: Found): number => (sort === 'oldest' ? a.key - b.key : b.key - a.key)
  const isBetter = scorer === null ? byTime : byScore
  const groups = groupByChat(db, alike, ranked, newest.isWhole ? 0 : (newest.keys.at(-1) ?? 0), isBetter)
  // A title represents a chat without a matching message.
  const all = [...groups, ...titles.hits.map((hit) => ({ best: foundTitle(hit, scorer), matchCount: 1 }))]
  const page = all.sort((a, b) => isBetter(a.best, b.best)).slice(offset, offset + limit)
  return {
    page: page.map((group) => ({ ...group, matchCountIsExact: newest.isWhole && isIndexed })),
    total: all.length,
    isExact: newest.isWhole && titles.isWhole,
  }
}

/** @param edge older ranked messages are not among the alike ones */
function groupByChat(
  db: Mirror,
  alike: readonly Alike[],
  ranked: readonly RankedMessage[],
  edge: number,
  isBetter: (a: Found, b: Found) => number,
): readonly Group[] {
  const groups = new Map<number, Group>()
  const add = (chat: number, message: Found, count: number): void => {
    const group = groups.get(chat)
    if (group === undefined) groups.set(chat, { best: message, matchCount: count })
    else {
      group.matchCount += count
      if (isBetter(message, group.best) < 0) group.best = message
    }
  }
  for (const { chat, firstKey, lastKey, count } of alike) {
    add(chat, foundMessage({ key: lastKey }), count)
    add(chat, foundMessage({ key: firstKey }), 0)
  }
  const chats = chatsOf(db, ranked)
  for (const [index, message] of ranked.entries()) {
    add(chats[index] ?? 0, foundMessage(message), message.key < edge ? 1 : 0)
  }
  return [...groups.values()]
}

// A left join walks the keys in their order.
const CHATS_OF_KEYS = `
  select m.chat from json_each(?) k left join messages m indexed by message_facts on m.key = k.value
`

const chatsOf = (db: Mirror, messages: readonly Pick<RankedMessage, 'key'>[]): readonly number[] =>
  statementOf<number>(db, CHATS_OF_KEYS, 'values').all(JSON.stringify(messages.map(({ key }) => key)))
