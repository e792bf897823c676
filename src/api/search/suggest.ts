import type { Mirror } from '../../mirror/open.ts'
import { prepared } from '../../mirror/sql.ts'
import { parseParts } from '../../mirror/write/pack-message.ts'
import { editDistance } from '../../text/nearest-name.ts'
import { createMatcher, type TermPhrase } from '../../text/passages/matcher.ts'
import { asPathTerm, markTerm, pathsOf } from '../../text/terms/columns.ts'
import { isUnspacedSign, termsOf, tokenize, type Term } from '../../text/terms/terms.ts'
import type { SuggestAnswer, Suggestion, SuggestionKind } from '../answers/search.ts'
import { phrasesExpression, wordPhrases } from './condition.ts'
import { splitField } from './parse.ts'
import { respell } from './hints.ts'
import { statementOf } from './statement.ts'
import { countHolders, nearWords, slipsForgiven, wordsStarting, type NearWord } from './vocabulary.ts'

/** Projects are what people most often want when they type a few letters. */
const WEIGHTS: Readonly<Record<SuggestionKind, number>> = { project: 1, tool: 0.95, chat: 0.9, term: 0.85, file: 0.8 }
/** Of two equal fits, the one found first is better: it is more frequent or newer. */
const PLACE_WEIGHT = 0.001
const FOLDER_WEIGHT = 0.8

export interface SuggestRequest {
  /** The text typed so far. */
  readonly q: string
  /** 1 to 20. */
  readonly limit: number
}

/**
 * Suggestions for a text that is being typed: chats by title, projects, tools, files and words. Typos are forgiven as in a
 * search. Everything suggested exists, and a suggested word occurs together with the other words.
 */
export function suggest(db: Mirror, { q, limit }: SuggestRequest): SuggestAnswer {
  const startedAtMs = performance.now()
  const words = readTyped(q)
  const items = words.length === 0 ? [] : db.transaction(() => answer(db, words, limit))()
  return { items, tookMs: Math.round(performance.now() - startedAtMs) }
}

/** One typed word. The last one may be incomplete. */
interface TypedWord {
  readonly text: string
  readonly terms: readonly Term[]
  /** The index phrases of the word, or of words with this prefix. */
  readonly phrases: readonly TermPhrase[]
  readonly isUnfinished: boolean
}

const LENGTH_MAX = 200
const WORDS_MAX = 8

/** The last typed words. Accepts any text. */
function readTyped(q: string): readonly TypedWord[] {
  // A lone surrogate is no character, and SQLite ends a text at NUL.
  const clean = q
    .slice(-LENGTH_MAX)
    .replaceAll('\u0000', ' ')
    .replaceAll(/\p{Surrogate}/gu, ' ')
  const words = clean.split(/[\s"“”„()*]+/u).filter((word) => tokenize(word).length > 0)
  return words.slice(-WORDS_MAX).map((text, index, all) => typedWord(text, index === all.length - 1))
}

const typedWord = (text: string, isUnfinished: boolean): TypedWord => {
  return { text, terms: tokenize(text), phrases: wordPhrases(text, isUnfinished), isUnfinished }
}

function answer(db: Mirror, words: readonly TypedWord[], limit: number): readonly Suggestion[] {
  const field = splitField(words.at(-1)?.text.replace(/^-/, '') ?? '')
  if (field !== null && termsOf(field.value).length > 0) {
    const value = [typedWord(field.value, true)]
    if (field.name === 'project') return projectsFor(db, fitOf(value)).slice(0, limit)
    if (field.name === 'tool') return toolsFor(db, fitOf(value)).slice(0, limit)
    return field.name === 'path' ? filesFor(db, value).slice(0, limit) : []
  }
  const meant = words.map((word) => meantWords(db, word))
  const fit = fitOf(words)
  const found = [
    projectsFor(db, fit),
    toolsFor(db, fit),
    chatsFor(db, words, meant, fit),
    filesFor(db, words),
    termsFor(db, words, meant.at(-1) ?? [], limit),
  ].filter(({ length }) => length > 0)
  const ofOneKind = found.length > 1 ? Math.ceil(limit / 2) : limit
  const mixed = found.flatMap((of) => of.slice(0, ofOneKind))
  return mixed.sort((a, b) => b.score - a.score).slice(0, limit)
}

const MEANT_MAX = 20
/** Of all words, a tenth begins with the same letter: to count their messages takes too long. */
const COMPLETED_SIGNS_MIN = 2
/** With fewer completions, none of which is in as many messages, words with a near beginning are added. */
const FEW = 3
const MESSAGES_OF_KNOWN = 5

/**
 * What a typed word may stand for: completions of an unfinished one, the most frequent first, at distance 0. If they are few,
 * or a finished word occurs nowhere, words near it.
 */
function meantWords(db: Mirror, { text, terms, isUnfinished }: TypedWord): readonly NearWord[] {
  const term = terms.at(-1)?.term ?? ''
  if (text.length < COMPLETED_SIGNS_MIN || isUnspacedSign(term)) return []
  const begun = isUnfinished
    ? wordsStarting(db, term).filter(({ word }) => !/\d/.test(word) || /\d/.test(term))
    : [{ word: term, count: countHolders(db, [wholeWord(term)]) }].filter(({ count }) => count > 0)
  const found = begun.slice(0, MEANT_MAX).map(({ word }) => ({ word, distance: 0 }))
  const isKnown = isUnfinished ? found.length >= FEW || (begun[0]?.count ?? 0) >= MESSAGES_OF_KNOWN : found.length > 0
  const slips = slipsForgiven(term)
  if (isKnown || slips === 0) return found
  const near = nearWords(db, term, slips, isUnfinished)
    .map((one) => ({ ...one, count: countHolders(db, [wholeWord(one.word)]) }))
    .toSorted((a, b) => a.distance - b.distance || b.count - a.count)
  return [...found, ...near].slice(0, MEANT_MAX)
}

const wholeWord = (term: string): TermPhrase => ({ terms: [term], isPrefix: false })

const matchOf = (words: readonly (readonly TermPhrase[])[]): string =>
  words.map((phrases) => phrasesExpression({ columns: null }, phrases)).join(' AND ')

const IS_HELD = `
  select 1 from message_terms where message_terms match @match
  union all select 1 from chat_terms where chat_terms match @match
  limit 1
`

/**
 * Completions of the last word. Each occurs in a message or title together with the other typed words. Words that occur
 * only in removed messages are left out.
 */
function termsFor(
  db: Mirror,
  words: readonly TypedWord[],
  meant: readonly NearWord[],
  most: number,
): readonly Suggestion[] {
  const typed = words.at(-1)
  const last = typed?.terms.at(-1)
  if (typed === undefined || last === undefined) return []
  const before = words.slice(0, -1)
  const found: Fitting[] = []
  for (const { word, distance } of meant) {
    if (found.length >= most) break
    const text = respell(typed.text, last, word)
    const match = matchOf([...before.map(({ phrases }) => phrases), wordPhrases(text, false)])
    if (prepared(db, IS_HELD).get({ match }) === undefined) continue
    found.push({ id: [...before.map((one) => one.text), text].join(' '), text, fit: 1 / (1 + distance) })
  }
  return ranked('term', found)
}

interface Fitting {
  readonly id: string
  readonly text: string
  readonly fit: number
}

type Fit = (text: string) => number

// There are at most a few hundred of each.
const PROJECTS = `select id, name as text from projects order by num desc`
const TOOLS = `select name as id, name as text from names where kind = 'tool' order by name`
const CALLS_TOOL = `select 1 from message_terms where message_terms match ? limit 1`

const namesThatFit = (db: Mirror, sql: string, fit: Fit, ...values: readonly string[]): readonly Fitting[] =>
  prepared<Omit<Fitting, 'fit'>>(db, sql)
    .all(...values)
    .map((named) => ({ ...named, fit: fit(named.text) }))

const projectsFor = (db: Mirror, fit: Fit): readonly Suggestion[] => ranked('project', namesThatFit(db, PROJECTS, fit))

/** A name stays in the list when its last message is gone. */
const toolsFor = (db: Mirror, fit: Fit): readonly Suggestion[] =>
  ranked('tool', namesThatFit(db, TOOLS, fit)).filter(({ id }) => {
    const mark = phrasesExpression({ columns: null }, [wholeWord(markTerm(`tool:${id}`))])
    return prepared(db, CALLS_TOOL).get(`{marks} : (${mark})`) !== undefined
  })

/** How many of the latest chats with such a title are compared. */
const TITLES_MAX = 100
/** One letter matches a third of all titles. */
const TITLE_SIGNS_MIN = 2

const WITH_TITLE = `
  select id, title as text from (
    select c.id, c.title, c.last_activity_at, c.num
    from chat_terms cross join chats c on c.num = chat_terms.rowid
    where chat_terms match ? and exists (select 1 from messages m where m.chat = c.num)
    order by chat_terms.rowid desc
    limit ${TITLES_MAX}
  )
  order by ifnull(last_activity_at, 0) desc, num desc
`

/** Chats by title, latest activity first. */
function chatsFor(
  db: Mirror,
  words: readonly TypedWord[],
  meant: readonly (readonly NearWord[])[],
  fit: Fit,
): readonly Suggestion[] {
  const [only, ...others] = words
  const isTooShort = others.length === 0 && only !== undefined && only.text.length < TITLE_SIGNS_MIN
  if (isTooShort && !isUnspacedSign(only.terms.at(-1)?.term ?? '')) return []
  const match = matchOf(
    words.map(({ phrases, terms }, at) => {
      const near = terms.length > 1 ? [] : (meant[at] ?? []).filter(({ distance }) => distance > 0)
      return [...phrases, ...near.map(({ word }) => wholeWord(word))]
    }),
  )
  return ranked('chat', namesThatFit(db, WITH_TITLE, fit, `{title} : (${match})`))
}

/** A message can be as large as the output of a tool, so only a few of moderate size are read. */
const NAMING = `
  select b.parts
  from message_terms cross join messages m on m.key = message_terms.rowid cross join bodies b on b.num = m.body
  where message_terms match ? and octet_length(b.parts) <= 100000
  order by message_terms.rowid desc
  limit 12
`
/** How many completions of the last word are looked up. */
const ENDINGS_MAX = 8

/** Paths from the newest messages that name a path with such words. Each path once. A file's own name counts more than its folders. */
function filesFor(db: Mirror, words: readonly TypedWord[]): readonly Suggestion[] {
  const phrases = words.map((word) => pathPhrases(db, word))
  if (phrases.some(({ length }) => length === 0)) return []
  const bodies = statementOf<string>(db, NAMING, 'values').all(`{marks} : (${matchOf(phrases)})`)
  const paths = new Set(bodies.flatMap((parts) => parseParts(parts).flatMap(pathsOf)))
  const fit = fitOf(words)
  const found = [...paths].map((path) => {
    const name = path.split(/[/\\]/u).at(-1) ?? path
    return { id: path, text: path, fit: Math.max(fit(path) * FOLDER_WEIGHT, fit(name)) }
  })
  return ranked('file', found)
}

/** Only whole words: for a prefix, the index would merge the lists of all words with that prefix. */
function pathPhrases(db: Mirror, { terms, isUnfinished }: TypedWord): readonly TermPhrase[] {
  const all = terms.map(({ term }) => term)
  const last = all.at(-1) ?? ''
  const begun = isUnfinished ? wordsStarting(db, asPathTerm(last)).slice(0, ENDINGS_MAX) : [{ word: asPathTerm(last) }]
  return begun.map(({ word }) => ({ terms: [...all.slice(0, -1).map(asPathTerm), word], isPrefix: false }))
}

const WHOLE = 1
const AT_START = 0.9
const SOMEWHERE = 0.75
/** With a typo or two. */
const NEARLY = 0.5

/**
 * How well a name or a title fits the typed words, 0 to 1. It is 0 if a word is missing. An exact match is best, then a
 * match at the start.
 */
function fitOf(words: readonly TypedWord[]): Fit {
  const fits = words.map(wordFit)
  return (text) => {
    const each = fits.map((fit) => fit(text))
    return each.length === 0 || each.includes(0) ? 0 : each.reduce((sum, one) => sum + one, 0) / each.length
  }
}

function wordFit(word: TypedWord): Fit {
  const matcher = createMatcher(word.phrases)
  const [only, ...others] = word.terms
  const slips = only === undefined || others.length > 0 ? 0 : slipsForgiven(only.term)
  return (text) => {
    const spans = matcher.find(text).flatMap((match) => match.spans)
    if (spans.some(({ start, end }) => start === 0 && end === text.length)) return WHOLE
    if (spans.length > 0) return spans.some(({ start }) => start === 0) ? AT_START : SOMEWHERE
    if (only === undefined || slips === 0) return 0
    return tokenize(text).some(({ term }) => editDistance(only.term, term, word.isUnfinished, slips) <= slips)
      ? NEARLY
      : 0
  }
}

function ranked(kind: SuggestionKind, found: readonly Fitting[]): readonly Suggestion[] {
  const scored = found
    .filter(({ fit }) => fit > 0)
    .map(({ id, text, fit }, at) => {
      const score = WEIGHTS[kind] * fit - Math.min(at, 50) * PLACE_WEIGHT
      return { kind, text, id, score: Math.round(Math.max(0, score) * 1000) / 1000 }
    })
  return scored.sort((a, b) => b.score - a.score)
}
