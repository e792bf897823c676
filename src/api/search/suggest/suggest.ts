import type { Mirror } from '../../../mirror/open.ts'
import { createDeadline } from '../deadline.ts'
import type { FieldName } from '../language/tree.ts'
import type { Match } from '../plan/condition.ts'
import { findChats, isToolCalled, listProjectNames, listToolNames, type Named } from './find-names.ts'
import { findFiles } from './find-files.ts'
import { findWords, meantInstead, meantWords, type MeantWord } from './find-words.ts'
import { fitOf } from './fit.ts'
import { frequentWords, gatherWords, type FrequentWords } from './frequent-words.ts'
import { readTyped, typedValue, type TypedWord } from './typed.ts'
import type { SuggestAnswer, Suggestion, SuggestionKind } from '../../answers/search.ts'

/** Time for gathering words in the first answer, and in each later one until they are complete. */
const FIRST_GATHERING_MS = 100
const GATHERING_MS = 2
/** Time limit for finding suggestions. It usually takes 5 ms. */
const LOOKING_MS = 500

/** Projects are what people most often want when they type a few letters. */
const WEIGHTS: Readonly<Record<SuggestionKind, number>> = { project: 1, tool: 0.95, chat: 0.9, term: 0.85, file: 0.8 }
/** Of two equal fits, the one found first is better: it is more frequent or newer. */
const PLACE_WEIGHT = 0.001
const FOLDER_WEIGHT = 0.8
/** One letter matches a third of all titles. */
const TITLE_SIGNS_MIN = 2

/**
 * Suggestions for a text that is being typed: chats by title, projects, tools, files and words. Typos are forgiven as in a
 * search. Everything suggested exists, and a suggested word occurs together with the other words.
 */
export function suggest(db: Mirror, { q, limit }: SuggestRequest): SuggestAnswer {
  const startedAtMs = performance.now()
  gather(db)
  const words = readTyped(q)
  const items = words.length === 0 ? [] : db.transaction(() => answer(db, words, limit))()
  return {
    items,
    isComplete: frequentWords(db).isComplete,
    tookMs: Math.round(performance.now() - startedAtMs),
  }
}

const begun = new WeakSet<Mirror>()

function gather(db: Mirror): void {
  const isFirst = !begun.has(db)
  begun.add(db)
  gatherWords(db, createDeadline(isFirst ? FIRST_GATHERING_MS : GATHERING_MS).isPassed)
}

function answer(db: Mirror, words: readonly TypedWord[], limit: number): readonly Suggestion[] {
  const { isPassed } = createDeadline(LOOKING_MS)
  const frequent = frequentWords(db)
  const typed = typedValue(words)
  if (typed !== null) return valuesFor(db, typed.name, [typed.value], limit)
  const last = words.at(-1)
  const meant = last === undefined ? [] : meantWords(db, frequent, last, isPassed)
  const fit = fitOf(words)
  const half = Math.ceil(limit / 2)
  const terms = (most: number): readonly Suggestion[] => ranked('term', termsFor(db, words, meant, most, isPassed))
  const first = terms(half)
  const others = [
    projectsFor(db, fit),
    toolsFor(db, fit),
    ranked('chat', chatsFor(db, words, meant, fit, isPassed)),
    ranked('file', filesFor(db, words, frequent, fit)),
  ]
  // Each word needs a lookup, so the second half is looked up only if nothing else fills the list.
  const isRoom = first.length === half && others.flat().length < limit - half
  return mixed([...others, isRoom ? terms(limit) : first], limit)
}

/** Values for a field: only names that the field can have. */
function valuesFor(db: Mirror, field: FieldName, value: readonly TypedWord[], limit: number): readonly Suggestion[] {
  const fit = fitOf(value)
  if (field === 'project') return mixed([projectsFor(db, fit)], limit)
  if (field === 'tool') return mixed([toolsFor(db, fit)], limit)
  return field === 'path' ? mixed([ranked('file', filesFor(db, value, frequentWords(db), fit))], limit) : []
}

const projectsFor = (db: Mirror, fit: (text: string) => number): readonly Suggestion[] =>
  ranked('project', namesThatFit(listProjectNames(db), fit))

const toolsFor = (db: Mirror, fit: (text: string) => number): readonly Suggestion[] =>
  ranked('tool', namesThatFit(listToolNames(db), fit)).filter(({ id }) => isToolCalled(db, id))

interface Fitting {
  readonly id: string
  readonly text: string
  readonly fit: number
}

function chatsFor(
  db: Mirror,
  words: readonly TypedWord[],
  meant: readonly MeantWord[],
  fit: (text: string) => number,
  isOver: () => boolean,
): readonly Fitting[] {
  const [only, ...others] = words
  if (only === undefined || (others.length === 0 && only.last !== null && only.text.length < TITLE_SIGNS_MIN)) return []
  const nodes = words.map((word): Match => {
    const instead = word.isUnfinished ? meant.filter(({ distance }) => distance > 0) : meantInstead(db, word, isOver)
    const respelt = word.terms.length > 1 ? [] : instead.map((each) => ({ terms: [each.word], isPrefix: false }))
    return { kind: 'phrases', phrases: [...word.phrases, ...respelt], columns: null, isWord: true }
  })
  return findChats(db, { kind: 'all', nodes }).map(({ id, title }) => ({ id, text: title, fit: fit(title) }))
}

const namesThatFit = (names: readonly Named[], fit: (text: string) => number): readonly Fitting[] =>
  names.map(({ id, name }) => ({ id, text: name, fit: fit(name) }))

/** The file's own name counts more than its folders. */
function filesFor(
  db: Mirror,
  words: readonly TypedWord[],
  frequent: FrequentWords,
  fit: (text: string) => number,
): readonly Fitting[] {
  return findFiles(db, frequent, words).map((path) => {
    const name = path.split(/[/\\]/u).at(-1) ?? path
    return { id: path, text: path, fit: Math.max(fit(path) * FOLDER_WEIGHT, fit(name)) }
  })
}

function termsFor(
  db: Mirror,
  words: readonly TypedWord[],
  meant: readonly MeantWord[],
  most: number,
  isOver: () => boolean,
): readonly Fitting[] {
  const found = findWords(db, words, meant, most, isOver)
  return found.map(({ text, query, distance }) => ({ id: query, text, fit: 1 / (1 + distance) }))
}

function ranked(kind: SuggestionKind, found: readonly Fitting[]): readonly Suggestion[] {
  const scored = found
    .filter(({ fit }) => fit > 0)
    .map(({ id, text, fit }, at) => ({ kind, text, id, score: WEIGHTS[kind] * fit - Math.min(at, 50) * PLACE_WEIGHT }))
  return scored.sort((a, b) => b.score - a.score)
}

/** The best of all kinds. One kind gets more than half only if the others do not fill the list. */
function mixed(kinds: readonly (readonly Suggestion[])[], limit: number): readonly Suggestion[] {
  const half = Math.ceil(limit / 2)
  const first = kinds.flatMap((found) => found.slice(0, half))
  const rest = kinds.flatMap((found) => found.slice(half)).sort((a, b) => b.score - a.score)
  const chosen = [...first.sort((a, b) => b.score - a.score), ...rest].slice(0, limit)
  return chosen
    .sort((a, b) => b.score - a.score)
    .map((each) => ({ ...each, score: Math.round(Math.max(0, each.score) * 1000) / 1000 }))
}

export interface SuggestRequest {
  /** The text typed so far. */
  readonly q: string
  /** 1 to 20. */
  readonly limit: number
}
