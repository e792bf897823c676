import type { TermPhrase, WantedPhrase } from '../../../text/passages/matcher.ts'
import { isUnspacedSign } from '../../../text/terms/terms.ts'
import {
  type Condition,
  type Test,
  allPhrases,
  expressionOf,
  phrasesExpression,
  spellingsOf,
  wantedWords,
  type Match,
  type PhrasesMatch,
} from './condition.ts'
import { LAST_KEY } from './resolve-field.ts'
import type { Mirror } from '../../../mirror/open.ts'
import { rowsOf, valuesOf } from '../match/statement.ts'

/** One way to pass: an expression for the index, bounds, and what columns must say. A message passes a plan by any. */
export interface Branch {
  /** What a row must match. Null where nothing is asked of the index, or only exclusions are. */
  readonly match: string | null
  /** Of the rows of `match` those in which separate words stand side by side; null where there is but one word. */
  readonly closeMatch: string | null
  /** Those in which three words or more stand so all in a row, as they were asked for; null where there are fewer. */
  readonly wholeMatch: string | null
  /** What a row must not match, where `match` is null and so cannot say it. */
  readonly exclude: string | null
  /** Least and greatest message key, both inclusive. BigInt, for a full-text table ignores other bounds on its rowid. */
  readonly low: bigint
  readonly high: bigint
  /** Where in those bounds what may pass lies, the newest first, apart from each other. */
  readonly ranges: readonly KeyRange[]
  /** Numbers of the chats that may pass; null: any. */
  readonly chats: readonly number[] | null
  /** What says that of a chat. */
  readonly chatTests: readonly Test[]
  /** Keys of all messages of those chats, where looking them up is cheaper than walking ranges. */
  readonly keys: readonly number[] | null
  readonly tests: readonly Test[]
  /** What to mark in a passage. */
  readonly phrases: readonly WantedPhrase[]
  /** The same by the words that were typed, in their order. */
  readonly words: readonly PhrasesMatch[]
  readonly hasWords: boolean
  /** Prefixes make each look into the index costly: it merges the lists of all the words they begin. */
  readonly isCostly: boolean
}

/** Keys of messages, both inclusive. */
export interface KeyRange {
  readonly low: bigint
  readonly high: bigint
}

interface Draft {
  readonly matches: readonly Match[]
  readonly excludes: readonly Match[]
  readonly tests: readonly Test[]
}

export const BRANCHES_MAX = 32

/** The ways to pass a condition; none where nothing can. */
export function branchesOf(condition: Condition): { readonly branches: readonly Branch[]; readonly isCut: boolean } {
  const { drafts, isCut } = expand(condition)
  return { branches: drafts.map(makeBranch), isCut }
}

interface Expanded {
  readonly drafts: readonly Draft[]
  readonly isCut: boolean
}

const open: Draft = { matches: [], excludes: [], tests: [] }

function expand(condition: Condition): Expanded {
  switch (condition.kind) {
    case 'always':
      return { drafts: [open], isCut: false }
    case 'never':
      return { drafts: [], isCut: false }
    case 'match':
      return { drafts: [{ ...open, matches: [condition.match] }], isCut: false }
    case 'not':
      return { drafts: [{ ...open, excludes: [condition.match] }], isCut: false }
    case 'test':
      return { drafts: [{ ...open, tests: [condition.test] }], isCut: false }
    case 'or': {
      const parts = condition.conditions.map(expand)
      return cut(
        parts.flatMap(({ drafts }) => drafts),
        parts,
      )
    }
    default:
      return condition.conditions.map(expand).reduce((sum, part) =>
        cut(
          sum.drafts.flatMap((one) => part.drafts.map((other) => bothOf(one, other))),
          [sum, part],
        ),
      )
  }
}

function cut(drafts: readonly Draft[], parts: readonly Expanded[]): Expanded {
  const isCut = drafts.length > BRANCHES_MAX || parts.some((part) => part.isCut)
  return { drafts: drafts.slice(0, BRANCHES_MAX), isCut }
}

const bothOf = (one: Draft, other: Draft): Draft => ({
  matches: [...one.matches, ...other.matches],
  excludes: [...one.excludes, ...other.excludes],
  tests: [...one.tests, ...other.tests],
})

function makeBranch(draft: Draft): Branch {
  const matches = draft.matches.flatMap((match) => (match.kind === 'all' ? match.nodes : [match]))
  const excluded = draft.excludes.map(expressionOf).join(' OR ')
  const exclude = excluded === '' ? null : excluded
  const without = (expression: string): string => (exclude === null ? expression : `(${expression}) NOT (${exclude})`)
  const isAsked = matches.length > 0
  const tests = draft.tests.flatMap((test) => (test.kind === 'and' ? test.tests : [test]))
  const keys = tests.flatMap((test) => (test.kind === 'keys' ? [test] : []))
  const words = matches.flatMap(wantedWords)
  const phrases = words.flatMap(spellingsOf)
  // A word that was typed twice need not be looked for twice.
  const all = [...new Set(matches.map(expressionOf))]
  const pairs = [...new Set(closePairs(matches))]
  const row = wholeRow(matches)
  const low = keys.reduce((least, test) => (test.low > least ? test.low : least), 1n)
  const high = keys.reduce((most, test) => (test.high < most ? test.high : most), LAST_KEY)
  return {
    match: isAsked ? without(all.join(' AND ')) : null,
    closeMatch: pairs.length > 0 ? without([...all, `(${pairs.join(' OR ')})`].join(' AND ')) : null,
    wholeMatch: row === null ? null : without(row.join(' AND ')),
    exclude: isAsked ? null : exclude,
    low,
    high,
    ranges: [{ low, high }],
    chats: commonChats(tests),
    chatTests: tests.filter((test) => test.kind === 'chats'),
    keys: null,
    tests: tests.filter((test) => test.kind !== 'keys' && test.kind !== 'chats'),
    phrases,
    words,
    hasWords: phrases.length > 0,
    isCostly: [...matches, ...draft.excludes].flatMap(allPhrases).some((phrase) => phrase.isPrefix),
  }
}

function commonChats(tests: readonly Test[]): readonly number[] | null {
  const sets = tests.flatMap((test) => (test.kind === 'chats' ? [test.nums] : []))
  const [first, ...others] = sets
  if (first === undefined) return null
  return others.reduce((common, nums) => {
    const also = new Set(nums)
    return common.filter((num) => also.has(num))
  }, first)
}

/** Each two words that follow each other in the query, as the phrase that they make side by side. */
function closePairs(matches: readonly Match[]): readonly string[] {
  return matches.flatMap((match, index) => {
    const before = matches[index - 1]
    return before !== undefined && canStandClose(before, match) ? (sideBySide([before, match]) ?? []) : []
  })
}

/** The longest row of words that follow each other in the query, as one phrase, and what else is asked; null for a pair. */
function wholeRow(matches: readonly Match[]): readonly string[] | null {
  const rows: (readonly PhrasesMatch[])[] = []
  for (const match of matches) {
    const row = rows.at(-1) ?? []
    const before = row.at(-1)
    if (!isWord(match)) rows.push([])
    else if (before !== undefined && canStandClose(before, match)) rows[rows.length - 1] = [...row, match]
    else rows.push([match])
  }
  const longest = rows.reduce((most, row) => (row.length > most.length ? row : most), [])
  const row = longest.length < 3 ? null : sideBySide(longest)
  const inRow = new Set<Match>(longest)
  return row === null ? null : [...matches.filter((match) => !inRow.has(match)).map(expressionOf), row]
}

function canStandClose(left: Match, right: Match): boolean {
  if (!isWord(left) || !isWord(right)) return false
  return left.phrases[0]?.isPrefix === false && left.columns?.join() === right.columns?.join()
}

function sideBySide(matches: readonly Match[]): string | null {
  const words = matches.filter(isWord)
  const [last] = words.slice(-1)
  const phrases = words.flatMap(({ phrases: [first] }) => first ?? [])
  const end = phrases.at(-1)
  if (last === undefined || end === undefined || phrases.length < words.length) return null
  const terms = phrases.flatMap((phrase, at) => [...bridge(phrases[at - 1], phrase), ...phrase.terms])
  return phrasesExpression(last, [{ terms, isPrefix: end.isPrefix }])
}

/** Between unspaced words that stand together the index has a pair of signs, one of each. */
function bridge(left: TermPhrase | undefined, right: TermPhrase): readonly string[] {
  const last = Array.from(left?.terms.at(-1) ?? '').at(-1) ?? ''
  const first = Array.from(right.terms[0] ?? '')[0] ?? ''
  return isUnspacedSign(last) && isUnspacedSign(first) ? [last + first] : []
}

/** Words that stand for one thing, and not for the many that `*inside*` may mean. */
function isWord(match: Match): match is PhrasesMatch {
  return match.kind === 'phrases' && match.isWord && match.isExpanded !== true
}

/** Beyond so many chats their messages lie everywhere in time, and walking from one to the next does not pay. */
const TIGHTENED_CHATS_MAX = 200

/** More messages are told by their chats. */
const KEYS_MAX = 2000

const SELECT_RANGES = `
  select min(m.key) as low, max(m.key) as high
  from json_each(@chats) c cross join messages m on m.chat = c.value
  where m.key between @low and @high
  group by c.key
`
const SELECT_KEYS = `
  select m.key from json_each(@chats) c cross join messages m on m.chat = c.value where m.key between @low and @high
  limit @rows
`

/** A few chats lie close in time, and so in the full-text index: only where they lie is walked. */
export function tightenBounds(db: Mirror, branch: Branch): Branch {
  const { chats, low, high } = branch
  if (chats === null || chats.length > TIGHTENED_CHATS_MAX) return branch
  const params = { chats: JSON.stringify(chats), low, high }
  const found = rowsOf<{ low: number; high: number }>(db, SELECT_RANGES).all(params)
  const ranges = joinRanges(found.map((range) => ({ low: BigInt(range.low), high: BigInt(range.high) })))
  const first = ranges.at(-1)
  const last = ranges[0]
  if (first === undefined || last === undefined) return { ...branch, high: low - 1n, ranges: [] }
  const bounds = { low: first.low, high: last.high }
  if (branch.match === null) return { ...branch, ...bounds, ranges }
  // Each walk of a prefix merges its lists anew: one walk then, past all that is of other chats.
  const keys = valuesOf<number>(db, SELECT_KEYS).all({ ...params, rows: branch.isCostly ? -1 : KEYS_MAX + 1 })
  if (branch.isCostly) return { ...branch, ...bounds, ranges: [bounds], keys }
  return { ...branch, ...bounds, ranges, keys: keys.length > KEYS_MAX ? null : keys }
}

/** Those that overlap are one. @returns the newest first */
function joinRanges(ranges: readonly KeyRange[]): readonly KeyRange[] {
  const joined: KeyRange[] = []
  for (const range of ranges.toSorted((a, b) => (a.high > b.high ? -1 : 1))) {
    const newer = joined.at(-1)
    if (newer === undefined || range.high < newer.low) joined.push(range)
    else joined[joined.length - 1] = { low: range.low < newer.low ? range.low : newer.low, high: newer.high }
  }
  return joined
}
