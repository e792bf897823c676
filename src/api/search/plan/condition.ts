import type { Match } from './match.ts'

/** What the columns of a message, or of its chat, can answer. */
export type Test =
  | { readonly kind: 'chats'; readonly nums: readonly number[]; readonly says: string; readonly asked: SqlTest }
  /** Keys of messages, both inclusive. */
  | { readonly kind: 'keys'; readonly low: bigint; readonly high: bigint; readonly says: string }
  | SqlTest
  /** Asks the index for one message: where a title is what matched. */
  | { readonly kind: 'marks'; readonly match: Match; readonly says: string }
  | { readonly kind: 'not'; readonly test: Test }
  | { readonly kind: 'and' | 'or'; readonly tests: readonly Test[] }

/** SQL over `m`, in which `?` stands for each of the values in turn. */
interface SqlTest {
  readonly kind: 'sql'
  readonly sql: string
  readonly values: readonly (string | number)[]
  readonly says: string
}

/** A query, with its words and fields looked up: what the index answers apart from what columns answer. */
export type Condition =
  | { readonly kind: 'always' | 'never' }
  | { readonly kind: 'match'; readonly match: Match }
  | { readonly kind: 'test'; readonly test: Test }
  | { readonly kind: 'not'; readonly match: Match }
  | { readonly kind: 'and' | 'or'; readonly conditions: readonly Condition[] }

export const always: Condition = { kind: 'always' }
export const never: Condition = { kind: 'never' }

/** All must hold. What the index can answer at one go becomes one match, and so do tests. */
export function allHold(conditions: readonly Condition[]): Condition {
  const flat = conditions.flatMap((each) => (each.kind === 'and' ? each.conditions : [each]))
  if (flat.some((each) => each.kind === 'never')) return never
  return joined('and', gathered('and', flat))
}

export function anyHolds(conditions: readonly Condition[]): Condition {
  const flat = conditions.flatMap((each) => (each.kind === 'or' ? each.conditions : [each])).map(asMatch)
  if (flat.some((each) => each.kind === 'always')) return always
  return joined('or', gathered('or', flat))
}

export function doesNotHold(condition: Condition): Condition {
  switch (condition.kind) {
    case 'always':
      return never
    case 'never':
      return always
    case 'match':
      return { kind: 'not', match: condition.match }
    case 'not':
      return { kind: 'match', match: condition.match }
    case 'test':
      return { kind: 'test', test: { kind: 'not', test: condition.test } }
    default: {
      const parts = condition.conditions.map(doesNotHold)
      return condition.kind === 'and' ? anyHolds(parts) : allHold(parts)
    }
  }
}

function joined(kind: 'and' | 'or', conditions: readonly Condition[]): Condition {
  const [first, second] = conditions
  if (first === undefined) return kind === 'and' ? always : never
  return second === undefined ? first : { kind, conditions }
}

function gathered(kind: 'and' | 'or', conditions: readonly Condition[]): readonly Condition[] {
  const matches = conditions.flatMap((each) => (each.kind === 'match' ? [each.match] : []))
  const tests = conditions.flatMap((each) => (each.kind === 'test' ? [each.test] : []))
  const others = conditions.filter((each) => each.kind === 'not' || each.kind === 'and' || each.kind === 'or')
  const [match, secondMatch] = matches
  const [test, secondTest] = tests
  const oneMatch: Match | undefined =
    secondMatch === undefined ? match : { kind: kind === 'and' ? 'all' : 'any', nodes: matches }
  const oneTest: Test | undefined = secondTest === undefined ? test : { kind, tests }
  return [
    ...(oneMatch === undefined ? [] : [{ kind: 'match', match: oneMatch } as const]),
    ...(oneTest === undefined ? [] : [{ kind: 'test', test: oneTest } as const]),
    ...others,
  ]
}

/** Words without other words are one question to the index; only exclusions alone are none. */
function asMatch(condition: Condition): Condition {
  if (condition.kind !== 'and') return condition
  const [first, ...others] = condition.conditions
  const excluded = others.flatMap((each) => (each.kind === 'not' ? [each.match] : []))
  if (first?.kind !== 'match' || excluded.length !== others.length) return condition
  return { kind: 'match', match: { kind: 'but', node: first.match, except: { kind: 'any', nodes: excluded } } }
}
