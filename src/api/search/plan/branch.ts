import type { WantedPhrase } from '../../../text/matcher.ts'
import type { Condition, Test } from './condition.ts'
import { allPhrases, expressionOf, phrasesExpression, wantedPhrases, type Match, type PhrasesMatch } from './match.ts'
import { LAST_KEY } from './resolve-field.ts'

/** One way to pass: an expression for the index, bounds, and what columns must say. A message passes a plan by any. */
export interface Branch {
  /** What a row must match. Null where nothing is asked of the index, or only exclusions are. */
  readonly match: string | null
  /** Matches the same rows as `match`, and ranks those higher in which separate words stand side by side. */
  readonly rankMatch: string | null
  /** What a row must not match, where `match` is null and so cannot say it. */
  readonly exclude: string | null
  /** Least and greatest message key, both inclusive. BigInt, for a full-text table ignores other bounds on its rowid. */
  readonly low: bigint
  readonly high: bigint
  /** Numbers of the chats that may pass; null: any. */
  readonly chats: readonly number[] | null
  readonly tests: readonly Test[]
  /** What to mark in a passage. */
  readonly phrases: readonly WantedPhrase[]
  readonly hasWords: boolean
  /** Prefixes make each look into the index costly: it merges the lists of all the words they begin. */
  readonly isCostly: boolean
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
  const phrases = matches.flatMap(wantedPhrases)
  return {
    match: isAsked ? without(matches.map(expressionOf).join(' AND ')) : null,
    rankMatch: isAsked ? without(rankedExpressions(matches).join(' AND ')) : null,
    exclude: isAsked ? null : exclude,
    low: keys.reduce((low, test) => (test.low > low ? test.low : low), 1n),
    high: keys.reduce((high, test) => (test.high < high ? test.high : high), LAST_KEY),
    chats: commonChats(tests),
    tests: tests.filter((test) => test.kind !== 'keys' && test.kind !== 'chats'),
    phrases,
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

/** `b` becomes `(b OR "a b")`: the same rows, one more phrase for bm25 to count where both stand together. */
function rankedExpressions(matches: readonly Match[]): readonly string[] {
  return matches.map((match, index) => {
    const before = matches[index - 1]
    if (before === undefined || !isWord(before) || !isWord(match)) return expressionOf(match)
    const [left] = before.phrases
    const [right] = match.phrases
    const isSamePlace = before.columns?.join() === match.columns?.join()
    if (left === undefined || right === undefined || left.isPrefix || !isSamePlace) return expressionOf(match)
    const together = { terms: [...left.terms, ...right.terms], isPrefix: right.isPrefix }
    return `(${expressionOf(match)} OR ${phrasesExpression(match, [together])})`
  })
}

/** Words that stand for one thing, and not for the many that `*inside*` may mean. */
function isWord(match: Match): match is PhrasesMatch {
  return match.kind === 'phrases' && match.isWord && match.isExpanded !== true
}
