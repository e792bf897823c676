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
import { LIMIT_ROWS, rowsOf, valuesOf } from '../match/statement.ts'

/** One alternative of a query: a full-text expression, key bounds, and tests on columns. A message must match one of them. */
export interface Branch {
  /** The FTS5 expression that a row must match. Null if there is none, or only an exclusion. */
  readonly match: string | null
  /** Like `match`, but two separate words must be adjacent; null if there is only one word. */
  readonly closeMatch: string | null
  /** Like `match`, but three or more words must be adjacent in the order of the query; null if there are fewer. */
  readonly wholeMatch: string | null
  /** The FTS5 expression that a row must not match. Only set if `match` is null, because otherwise `match` includes it. */
  readonly exclude: string | null
  /** Smallest and largest message key, inclusive. BigInt, because a full-text table ignores other bounds on its rowid. */
  readonly low: bigint
  readonly high: bigint
  /** The ranges within those bounds that may have matches, the newest first. They do not overlap. */
  readonly ranges: readonly KeyRange[]
  /** Numbers of the allowed chats; null for any. */
  readonly chats: readonly number[] | null
  /** The tests from which `chats` was made. */
  readonly chatTests: readonly Test[]
  /** Keys of all messages of those chats, if a look-up is cheaper than walking ranges; else null. */
  readonly keys: readonly number[] | null
  readonly tests: readonly Test[]
  /** What to mark in a snippet. */
  readonly phrases: readonly WantedPhrase[]
  /** The same per typed word, in the order of the query. */
  readonly words: readonly PhrasesMatch[]
  readonly hasWords: boolean
  /** True with prefixes: then each index query merges the lists of all words with that beginning. */
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

/** The alternatives of a condition; empty if nothing can match. */
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
  // A word that was typed twice is searched for once.
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

/** A phrase for each two consecutive words of the query. */
function closePairs(matches: readonly Match[]): readonly string[] {
  return matches.flatMap((match, index) => {
    const before = matches[index - 1]
    return before !== undefined && canStandClose(before, match) ? (sideBySide([before, match]) ?? []) : []
  })
}

/** The longest sequence of words in the query as one phrase, and the other expressions; null for fewer than three words. */
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

/** Between two adjacent unspaced words, the index has a pair of one character of each. */
function bridge(left: TermPhrase | undefined, right: TermPhrase): readonly string[] {
  const last = Array.from(left?.terms.at(-1) ?? '').at(-1) ?? ''
  const first = Array.from(right.terms[0] ?? '')[0] ?? ''
  return isUnspacedSign(last) && isUnspacedSign(first) ? [last + first] : []
}

/** Whether it is a single word, and not the many words of `*inside*`. */
function isWord(match: Match): match is PhrasesMatch {
  return match.kind === 'phrases' && match.isWord && match.isExpanded !== true
}

/** The messages of more chats than this are spread over all times, and jumping between ranges does not help. */
const TIGHTENED_CHATS_MAX = 200

/** If there are more messages, the test on their chat is used instead. */
const KEYS_MAX = 2000

const SELECT_RANGES = `
  select min(m.key) as low, max(m.key) as high
  from json_each(@chats) c cross join messages m on m.chat = c.value
  where m.key between @low and @high
  group by c.key
`
const SELECT_KEYS = `
  select m.key from json_each(@chats) c cross join messages m on m.chat = c.value where m.key between @low and @high
  ${LIMIT_ROWS}
`

/** Limits a branch to the key ranges of its chats. The messages of a few chats are close in time, and so in the index. */
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
  // With a prefix, every walk merges its lists again. So there is only one walk, which skips the messages of other chats.
  const keys = valuesOf<number>(db, SELECT_KEYS).all({ ...params, rows: branch.isCostly ? -1 : KEYS_MAX + 1 })
  if (branch.isCostly) return { ...branch, ...bounds, ranges: [bounds], keys }
  return { ...branch, ...bounds, ranges, keys: keys.length > KEYS_MAX ? null : keys }
}

/** Joins overlapping ranges. @returns the newest first */
function joinRanges(ranges: readonly KeyRange[]): readonly KeyRange[] {
  const joined: KeyRange[] = []
  for (const range of ranges.toSorted((a, b) => (a.high > b.high ? -1 : 1))) {
    const newer = joined.at(-1)
    if (newer === undefined || range.high < newer.low) joined.push(range)
    else joined[joined.length - 1] = { low: range.low < newer.low ? range.low : newer.low, high: newer.high }
  }
  return joined
}
