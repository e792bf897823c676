import type { Mirror } from '../../mirror/open.ts'
import { tokenize, termsOf, type Term } from '../../text/terms/terms.ts'
import type { SearchSuggestion } from '../answers/search.ts'
import { wordPhrases } from './condition.ts'
import { echo, printQuery, type ParsedQuery, findDate, parseQuery } from './parse.ts'
import {
  type QueryNode,
  type WordsNode,
  type SearchRequest,
  allOf,
  anyOf,
  fieldsOf,
  noneOf,
  hasWords,
  type SearchFilters,
} from './query.ts'
import { countFound } from './titles.ts'
import { countHolders, nearWords, slipsForgiven, withSameStem } from './vocabulary.ts'
import { monthOf } from '../periods.ts'
import { readAsked } from './related.ts'
import { prepared } from '../../mirror/sql.ts'
import { filterNames, type FilterName } from '../../shared/filters.ts'
import { COUNTED_MAX } from './statement.ts'

const dateFields: ReadonlySet<string> = new Set(['on', 'before', 'after'])

/** The query in our own language, if it was typed in the language of another program or has a date in words. */
export function suggestMeant(db: Mirror, parsed: ParsedQuery, request: SearchRequest): readonly SearchSuggestion[] {
  const suggestion = (reason: 'operator' | 'date', tree: QueryNode | null): readonly SearchSuggestion[] => {
    const count = tree === null ? 0 : countFound(db, tree, request)
    return count === 0 ? [] : [{ text: printQuery(tree), reason, count }]
  }
  const ofOperators = parsed.meant === null ? [] : suggestion('operator', parseQuery(parsed.meant).tree)
  return [
    ...ofOperators,
    ...ofDate(parsed, request)
      .flatMap((tree) => suggestion('date', tree))
      .slice(0, 1),
  ]
}

/** What the query is about with the date as a field: all words, and then any of them. */
function ofDate({ tree, quoted }: ParsedQuery, { q, clock }: SearchRequest): readonly QueryNode[] {
  if (tree === null || findDate(q) === null || fieldsOf(tree).some(({ name }) => dateFields.has(name))) return []
  const { date, words, required, fields, excluded } = readAsked(tree, quoted)
  if (date === null) return []
  const value = date.valueAt(monthOf(clock.nowMs, clock.timeZone).name)
  const about = words
    .filter(({ isFunctionWord }) => !isFunctionWord)
    .map(({ text }): WordsNode => ({ kind: 'words', text, isPrefix: false }))
  const rest: readonly QueryNode[] = [
    ...required,
    ...fields,
    ...excluded.map(noneOf),
    { kind: 'field', name: 'on', values: [value] },
  ]
  return [about, [anyOf(about) ?? []].flat()].flatMap((nodes) => allOf([...nodes, ...rest]) ?? [])
}

/** What remains of a search without one filter or one part of the query. */
interface Relaxation {
  readonly tree: QueryNode | null
  readonly filters: SearchFilters
  readonly dropped: FilterName | QueryNode
}

/**
 * Help for a search that found nothing: the searches with one filter or one word less that find something. If what
 * remains has no word, a warning gives its number of messages instead.
 */
export function suggestRelaxed(
  db: Mirror,
  tree: QueryNode | null,
  { filters, clock }: Pick<SearchRequest, 'filters' | 'clock'>,
): { readonly suggestions: readonly SearchSuggestion[]; readonly warnings: readonly string[] } {
  const found = relaxations(tree, filters)
    .map((each) => ({ each, count: countFound(db, each.tree, { filters: each.filters, clock }) }))
    .filter(({ count }) => count > 0)
  const suggestions = found
    .filter(({ each }) => asksForWords(each.tree) === asksForWords(tree))
    .map(({ each, count }) => suggestionOf(each, count))
  return { suggestions, warnings: suggestions.length > 0 ? [] : found.map(({ each, count }) => warningOf(each, count)) }
}

const asksForWords = (tree: QueryNode | null): boolean =>
  tree !== null && (tree.kind === 'and' ? tree.nodes : [tree]).some((node) => node.kind !== 'not' && hasWords(node))

function relaxations(tree: QueryNode | null, filters: SearchFilters): readonly Relaxation[] {
  const withoutFilter = filterNames
    .filter((name) => filters[name] !== undefined)
    .map((dropped) => {
      const others = Object.entries(filters).filter(([name]) => name !== dropped)
      return { tree, filters: Object.fromEntries(others), dropped }
    })
  const nodes = tree === null ? [] : tree.kind === 'and' ? tree.nodes : [tree]
  const withoutPart = nodes.map((dropped) => {
    return { tree: allOf(nodes.filter((node) => node !== dropped)), filters, dropped }
  })
  return [...withoutFilter, ...withoutPart]
}

/** A field, asked for or excluded. */
const isField = (node: QueryNode): boolean => node.kind === 'field' || (node.kind === 'not' && isField(node.node))

function suggestionOf({ tree, dropped }: Relaxation, count: number): SearchSuggestion {
  const query = printQuery(tree)
  if (typeof dropped === 'string') return { text: dropped, reason: 'without-filter', count }
  if (!isField(dropped)) return { text: query, reason: 'without-word', count }
  return { text: printQuery(dropped), reason: 'without-filter', count, query }
}

function warningOf({ tree, dropped }: Relaxation, count: number): string {
  const bound = count < COUNTED_MAX ? '' : 'at least '
  const part = typeof dropped === 'string' ? dropped : echo(printQuery(dropped))
  const [what, rest] = tree === null ? ['the query', 'filters leave'] : [part, 'rest leaves']
  return `Nothing matches ${what}; without it, the ${rest} ${bound}${count} messages.`
}

const COUNT_CAPPED = `
  select count(*) from messages m
  where m.chat in (
    select c.num from json_each(@ids) v cross join chats c on c.id >= v.value and c.id < v.value || char(0x10ffff)
  ) and m.is_index_capped = 1 and m.is_orphan <> 2
`

/** Warns in a search within given chats if some of their messages are too long to be indexed completely. */
export function warnOfCapped(db: Mirror, trees: readonly QueryNode[]): readonly string[] {
  const ids = trees.flatMap(namedChats)
  if (ids.length === 0) return []
  const count =
    prepared<number>(db, COUNT_CAPPED)
      .pluck()
      .get({ ids: JSON.stringify(ids) }) ?? 0
  if (count === 0) return []
  const what = count === 1 ? '1 message of this chat is' : `${count.toLocaleString('en-US')} messages here are`
  return [`${what} too long to be indexed whole: words near the end of such a message are not found.`]
}

/** The ids of the chats in which the search looks, without excluded ones. */
function namedChats(node: QueryNode): readonly string[] {
  if (node.kind === 'field') return node.name === 'chat' ? node.values : []
  return node.kind === 'and' || node.kind === 'or' ? node.nodes.flatMap(namedChats) : []
}

/** A query with misspelled words replaced, and what says so. */
interface Respelt {
  readonly tree: QueryNode
  readonly warning: string
  /** False if nothing has all of its words: then it only serves to find the closest chats. */
  readonly hasHits: boolean
}

interface SpellingCheck {
  readonly respelt: Respelt | null
  /** The best first. */
  readonly suggestions: readonly SearchSuggestion[]
}

/** How many queries are suggested, and how many words of one query are respelled. */
const SUGGESTED_MAX = 3
const MISSPELT_MAX = 3
/** How many spellings of one word are tried. */
const SPELLINGS_MAX = 5

/**
 * Finds other spellings for a search that found nothing. Each unknown word is replaced by the nearest known one: first
 * the smallest distance, then the most frequent. Quoted and excluded words and prefixes stay as they are.
 */
export function checkSpelling(
  db: Mirror,
  { tree, quoted }: Pick<ParsedQuery, 'tree' | 'quoted'>,
  request: SearchRequest,
): SpellingCheck {
  const choices = (tree === null ? [] : wordsOf(tree))
    .filter((node) => !node.isPrefix && !quoted.has(node))
    .filter(({ text }) => countHolders(db, wordPhrases(text, false)) === 0)
    .slice(0, MISSPELT_MAX)
    .map((node) => ({ node, spellings: respellWord(db, node.text).slice(0, SPELLINGS_MAX) }))
    .filter(({ spellings }) => spellings.length > 0)
  if (tree === null || choices.length === 0) return { respelt: null, suggestions: [] }
  const most = Math.max(...choices.map(({ spellings }) => spellings.length))
  const found: { readonly replaced: Replaced; readonly suggestion: SearchSuggestion }[] = []
  for (let at = 0; at < most && found.length < SUGGESTED_MAX; at += 1) {
    const replaced = spellingsAt(choices, at)
    const other = replaceWords(tree, replaced)
    const count = countFound(db, other, request)
    if (count > 0) found.push({ replaced, suggestion: { text: printQuery(other), reason: 'spelling', count } })
  }
  const suggestions = found.map(({ suggestion }) => suggestion)
  const [best] = found
  if (request.isLiteral === true) return { respelt: null, suggestions }
  if (best !== undefined) return { respelt: respelt(tree, best.replaced, true), suggestions }
  // If another form of a word is known, it is spelled correctly, and the closest chats are found by that form.
  const unknown = [...spellingsAt(choices, 0)].filter(
    ([{ text }, { isPrefix }]) => !isPrefix && termsOf(text).every((term) => withSameStem(db, term).length === 0),
  )
  return { respelt: unknown.length === 0 ? null : respelt(tree, new Map(unknown), false), suggestions }
}

/** Another spelling of a word, which occurs in the mirror. */
interface Spelling {
  readonly text: string
  /** Edit distance between the two. */
  readonly distance: number
  /** Whether it is the beginning of a word. */
  readonly isPrefix: boolean
}

interface Choice {
  readonly node: WordsNode
  readonly spellings: readonly Spelling[]
}

type Replaced = ReadonlyMap<WordsNode, Spelling>

/** The spelling of each word at this place of its list, or its last one. */
const spellingsAt = (choices: readonly Choice[], at: number): Replaced =>
  new Map(
    choices.flatMap(({ node, spellings }) => {
      const spelling = spellings[Math.min(at, spellings.length - 1)]
      return spelling === undefined ? [] : [[node, spelling] as const]
    }),
  )

function respelt(tree: QueryNode, replaced: Replaced, hasHits: boolean): Respelt {
  const typed = echo([...replaced].map(([node]) => node.text).join(' '))
  const meant = echo([...replaced].map(([, { text, isPrefix }]) => `${text}${isPrefix ? '*' : ''}`).join(' '))
  const shown = hasHits ? 'hits' : 'closest chats'
  const warning = `Nothing was found for ${typed}; these are the ${shown} for ${meant}.`
  return { tree: replaceWords(tree, replaced), warning, hasHits }
}

function wordsOf(node: QueryNode): readonly WordsNode[] {
  if (node.kind === 'words') return [node]
  return node.kind === 'and' || node.kind === 'or' ? node.nodes.flatMap(wordsOf) : []
}

/** The same query with some words replaced. */
function replaceWords(node: QueryNode, replaced: Replaced): QueryNode {
  if (node.kind === 'words') {
    const spelling = replaced.get(node)
    return spelling === undefined ? node : { ...node, text: spelling.text, isPrefix: spelling.isPrefix }
  }
  if (node.kind !== 'and' && node.kind !== 'or') return node
  return { ...node, nodes: node.nodes.map((each) => replaceWords(each, replaced)) }
}

/** How many candidates are looked up, nearest first. */
const LOOKED_UP_MAX = 40
/** How many parts of a name are respelled. */
const PARTS_MAX = 8
/** A part of a name may be shorter, because the other parts identify it too. */
const PART_LETTERS_MIN = 3

const slipsInPart = (term: string): number => Math.min(1, slipsForgiven(term, PART_LETTERS_MIN))

/** A hash, or an id in groups of hexadecimal digits, at the end of a text: people mostly give only its beginning. */
const hashEnd =
  /(?:(?<![\p{L}\p{M}\p{N}])[\da-f]{8}-[\da-f-]*|(?<![\p{L}\p{M}\p{N}])(?=[a-f]*\d)(?=\d*[a-f])[\da-f]{6,})$/iu

/** The spellings of a word that occur, best first: nearest, then most frequent. */
function respellWord(db: Mirror, text: string): readonly Spelling[] {
  const terms = tokenize(text)
  const unknown = terms.filter(({ term }) => slipsForgiven(term) > 0 && !isHeld(db, term)).slice(0, 2)
  // If each part is a known word, no name has them side by side, and one of them is another word.
  const written =
    terms.length === 1 || unknown.length > 0
      ? respellParts(db, text, unknown, slipsForgiven)
      : terms.slice(0, PARTS_MAX).flatMap((term) => respellParts(db, text, [term], slipsInPart))
  return [...(hashEnd.test(text) ? [{ text, distance: 0, isPrefix: true }] : []), ...written]
    .map((one) => ({ ...one, count: countHolders(db, wordPhrases(one.text, one.isPrefix)) }))
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => a.distance - b.distance || b.count - a.count)
}

const isHeld = (db: Mirror, term: string): boolean => countHolders(db, [{ terms: [term], isPrefix: false }]) > 0

/** The text with each of the parts respelled. */
function respellParts(
  db: Mirror,
  text: string,
  parts: readonly Term[],
  slips: (term: string) => number,
): readonly Spelling[] {
  let written: readonly Spelling[] = parts.length === 0 ? [] : [{ text, distance: 0, isPrefix: false }]
  // From the end, so that the positions of the earlier parts stay the same.
  for (const part of parts.toReversed()) {
    const near = nearWords(db, part.term, slips(part.term)).slice(0, LOOKED_UP_MAX)
    written = written.flatMap((one) =>
      near.map(({ word, distance }) => ({
        text: respell(one.text, part, word),
        distance: one.distance + distance,
        isPrefix: false,
      })),
    )
  }
  return written
}

/** The text with one part replaced. Keeps the capitals as typed, because they separate the parts of a name. */
export function respell(text: string, { start, end }: Term, term: string): string {
  const typed = text.slice(start, end)
  const isUpper = typed.length > 1 && typed === typed.toUpperCase()
  const isCapital = !isUpper && typed.charAt(0) !== typed.charAt(0).toLowerCase()
  const [first = '', ...rest] = Array.from(term)
  const spelt = isUpper ? term.toUpperCase() : `${isCapital ? first.toUpperCase() : first}${rest.join('')}`
  return `${text.slice(0, start)}${spelt}${text.slice(end)}`
}
