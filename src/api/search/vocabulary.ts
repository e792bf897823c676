import { stemmer } from '@orama/stemmers/english'
import { ATTACHED } from '../../mirror/index/index-file.ts'
import type { Mirror } from '../../mirror/open.ts'
import { prepared } from '../../mirror/sql.ts'
import { editDistance } from '../../text/nearest-name.ts'
import type { TermPhrase } from '../../text/passages/matcher.ts'
import { termsOf } from '../../text/terms/terms.ts'
import { phrasesExpression } from './condition.ts'
import { echo, printQuery } from './parse.ts'
import type { InsideNode } from './query.ts'

/** Above this number, all words count as equally frequent. */
const HOLDERS_MAX = 5000

const COUNT_HOLDERS = `
  select (select count(*) from (select 1 from message_terms where message_terms match @match limit ${HOLDERS_MAX}))
    + (select count(*) from (select 1 from chat_terms where chat_terms match @match limit ${HOLDERS_MAX}))
`

/** How many messages and titles contain one of these phrases, in any column. */
export function countHolders(db: Mirror, phrases: readonly TermPhrase[]): number {
  if (phrases.length === 0) return 0
  const match = phrasesExpression({ columns: null }, phrases)
  return prepared<number>(db, COUNT_HOLDERS).pluck().get({ match }) ?? 0
}

/** A word of the mirror, with its edit distance from a typed one. */
export interface NearWord {
  readonly word: string
  readonly distance: number
}

// All words are looked at for a slip in the first two letters: half a million take 30 ms.
const ALIKE = `
  select term from terms where length(term) between @least and @most
    and (term >= @first and term < @first || char(0x10ffff) or term like '%' || @end)
`
/** Real lists have few words near a word of four letters. The limit bounds the cost for a list of random words. */
const FOUND_MAX = 200
/** A word that is still being typed is the beginning of one with up to so many letters. */
const LETTERS_MAX = 64

/**
 * The words near a mistyped one, from the list of all terms, rare or frequent; the nearest first. Some may have no message
 * any more. For distance 2 the first letter is taken as right.
 * @param isUnfinished whether the word is still being typed. Then it is compared with the beginnings of others
 */
export function nearWords(db: Mirror, typed: string, distanceMax: number, isUnfinished = false): readonly NearWord[] {
  if (distanceMax === 0) return []
  const letters = Array.from(typed)
  const [first = ''] = letters
  const most = isUnfinished ? LETTERS_MAX : letters.length + distanceMax
  const end = letters.slice(2).join('')
  const alike = prepared<string>(db, ALIKE)
    .pluck()
    .all({ first, end, least: letters.length - distanceMax, most })
  // Of a longer word only the beginning can be near.
  return alike
    .map((word) => ({
      word,
      distance: editDistance(typed, word.slice(0, letters.length + distanceMax + 1), isUnfinished, distanceMax),
    }))
    .filter(({ word, distance }) => distance > 0 && distance <= (word.startsWith(first) ? distanceMax : 1))
    .filter(({ word }) => isSpellable(word))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, FOUND_MAX)
}

/** A shorter word has too many neighbours, all equally likely. */
const LETTERS_MIN = 4
/** Words of this length may have two typos. */
const TWO_SLIPS_LETTERS_MIN = 8

// Chinese, Japanese, Korean and Thai have no such typos: whole characters are chosen.
const letters =
  /^(?:[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Hebrew}\p{Script=Arabic}]|\p{M})+$/u

/** The neighbours of numbers and hashes have other meanings. */
const isSpellable = (term: string): boolean => letters.test(term)

/** How many typos are forgiven in a word: none in a short word or in one with digits or signs. */
export function slipsForgiven(term: string, lettersMin = LETTERS_MIN): 0 | 1 | 2 {
  const count = Array.from(term).length
  if (count < lettersMin || !isSpellable(term)) return 0
  return count < TWO_SLIPS_LETTERS_MIN ? 1 : 2
}

/** Words with a shorter beginning have too many neighbours. */
const BEGINNING_MIN = 3
/** The last letter of a stem may differ from the word: the stem of `memory` is `memori`. */
const STEM_END = 1
/** How many letters a form may have after its stem. */
const ENDING_MAX = 6
/** How many words with the same beginning are looked at, and how many forms of a word are searched for. */
const LOOKED_AT_MAX = 3000
const FORMS_MAX = 32

const NEIGHBOURS = `
  select term from terms where term >= @low and term < @high and length(term) <= @length limit ${LOOKED_AT_MAX}
`
const isWord = /^\p{L}+$/u

/** British and American spellings. Where the other one is no word, the index does not have it. */
const regional = [
  ['our', 'or'],
  ['is', 'iz'],
  ['ys', 'yz'],
  ['ll', 'l'],
  ['tre', 'ter'],
  ['ogue', 'og'],
  ['enc', 'ens'],
] as const
const spellings: readonly (readonly [pattern: RegExp, other: string])[] = [
  ...regional
    .flatMap(([one, other]) => [[one, other] as const, [other, one] as const])
    .map(([one, other]) => [new RegExp(`(?<=^[a-z]{3,})${one}(?=[a-z]{0,6}$)`), other] as const),
  // A possessive, a contraction without its sign, one with it, and a sign between thousands.
  [/['’]s$/i, ''],
  [/['’](?=[a-z]+$)/i, ''],
  [/(?<=^[a-z]+n)(?=t$)/i, "'"],
  [/(?<=^[1-9]\d*)(?=(?:\d{3})+$)/g, ','],
]

/** A word, then the same word as others write it, and the words of the mirror that have the same stem in English. */
export function formsOf(db: Mirror, text: string): readonly string[] {
  const written = new Set([text, ...spellings.map(([pattern, other]) => text.replace(pattern, other))])
  const forms = [...written].flatMap((word) => withSameStem(db, word))
  return [...new Set([...written, ...forms])].slice(0, FORMS_MAX)
}

/** The words of the mirror with the same stem, also the word itself if the mirror has it. */
export function withSameStem(db: Mirror, word: string): readonly string[] {
  const root = stemmer(word)
  const low = word.slice(0, Math.max(BEGINNING_MIN, root.length - STEM_END))
  if (root.length < BEGINNING_MIN || low.length < BEGINNING_MIN || !isWord.test(word)) return []
  const bounds = { low, high: `${low}\u{10ffff}`, length: root.length + ENDING_MAX }
  const near = prepared<string>(db, NEIGHBOURS).pluck().all(bounds)
  return near.filter((other) => isWord.test(other) && stemmer(other) === root)
}

/** A word with the number of messages that contain it. */
export interface CountedWord {
  readonly word: string
  readonly count: number
}

const STARTING = `select term as word, doc as count from temp.term_counts where term >= ? and term < ?`

/** All words of messages with this beginning, the most frequent first. Each message with one of them costs time. */
export function wordsStarting(db: Mirror, beginning: string): readonly CountedWord[] {
  openCounts(db)
  const words = prepared<CountedWord>(db, STARTING).all(beginning, `${beginning}\u{10ffff}`)
  return words.toSorted((a, b) => b.count - a.count || a.word.length - b.word.length)
}

const opened = new WeakSet<Mirror>()

/** A temporary view of the full-text index. A connection with `query_only` refuses to create even that. */
function openCounts(db: Mirror): void {
  if (opened.has(db)) return
  const mayOnlyAsk = Number(db.pragma('query_only', { simple: true }))
  db.pragma('query_only = off')
  try {
    db.exec(`create virtual table if not exists temp.term_counts using fts5vocab(${ATTACHED}, message_terms, row)`)
  } finally {
    db.pragma(`query_only = ${mayOnlyAsk}`)
  }
  opened.add(db)
}

/** How many of the words that contain a text are searched for, the shortest first. */
const TERMS_MAX = 200
/** Very many words end with a given character, and each one costs a query of the index. */
const AFTER_ONE_SIGN_MAX = 20

// In a hash, letters and digits are one term.
const hexDigits = /^[\da-f]+$/i

/** Besides the text itself. The shortest come first, because they are closest to it. */
const TERMS_WITH = `
  select term from terms
  where instr(term, @part) > 0 and term <> @part and (not @isEnding or substr(term, -length(@part)) = @part)
  order by length(term), term limit @most
`

/**
 * The words that contain a text, or end with it. If the text has several terms, it is found in the lower-case form of a
 * word, or as adjacent terms: the first one ends with the first term, and the last one begins with the last term.
 */
export function termsInside(db: Mirror, node: InsideNode, warnings: string[]): readonly TermPhrase[] {
  const [first = '', ...rest] = termsOf(node.text)
  const whole = termsOf(node.text.toLowerCase())
  const phrases: TermPhrase[] = []
  let isCut = false
  const add = (part: string, isEnding: boolean, most: number, rests: readonly string[]): void => {
    const listed = prepared<string>(db, TERMS_WITH)
      .pluck()
      .all({ part, isEnding: Number(isEnding), most: most + 1 })
    isCut ||= listed.length > most
    const isPrefix = rests.length > 0 && !node.isEnding
    phrases.push(...[part, ...listed.slice(0, most)].map((term) => ({ terms: [term, ...rests], isPrefix })))
  }
  const most = Array.from(first).length === 1 ? AFTER_ONE_SIGN_MAX : TERMS_MAX
  if (rest.length > 0) add(first, true, most, rest)
  const [only = ''] = whole.length === 1 ? whole : hexDigits.test(node.text) ? [node.text.toLowerCase()] : []
  if (only !== '') add(only, node.isEnding, TERMS_MAX, [])
  if (isCut) warnings.push(`Too many words contain ${echo(printQuery(node))}: only some of them were searched for.`)
  return phrases
}
