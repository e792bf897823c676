import { kinds, type Kind } from '../queries/index.ts'
import type { KindScore } from './measure.ts'

/** Goals for the search, on the half that is held back during development. */
export const RECALL_AT_10_MIN = 0.98
export const MRR_MIN = 0.9
/** Kinds in which nothing may be missed. */
export const WHOLE_KINDS: readonly Kind[] = ['identifiers', 'cjk']
/** Kinds in which the search must be better than each rival, not only as good. */
export const BEATEN_KINDS: readonly Kind[] = ['identifiers', 'cjk', 'thai', 'typos']

export interface Goal {
  readonly claim: string
  readonly value: string
  readonly isReached: boolean
}

interface Rival {
  readonly name: string
  readonly scores: readonly KindScore[]
}

const NONE: Pick<KindScore, 'recallAt10' | 'reciprocalRank' | 'isWrong'> = {
  recallAt10: 0,
  reciprocalRank: 0,
  isWrong: 1,
}

export function goalsOf(product: readonly KindScore[], rivals: readonly Rival[]): readonly Goal[] {
  const heldBack = (scores: readonly KindScore[], kind: Kind | null): typeof NONE =>
    scores.find((score) => score.half === 'held-back' && score.kind === kind) ?? NONE
  const all = heldBack(product, null)
  const better = rivals.flatMap(({ name, scores }) =>
    kinds
      .filter((kind) => isBetter(heldBack(scores, kind), heldBack(product, kind)))
      .map((kind) => `${name} on ${kind}`),
  )
  const unbeaten = rivals.flatMap(({ name, scores }) =>
    BEATEN_KINDS.filter((kind) => !beats(heldBack(product, kind), heldBack(scores, kind))).map(
      (kind) => `${name} on ${kind}`,
    ),
  )
  return [
    atLeast('recall@10', all.recallAt10, RECALL_AT_10_MIN),
    atLeast('MRR', all.reciprocalRank, MRR_MIN),
    ...WHOLE_KINDS.map((kind) => atLeast(`recall@10 of ${kind}`, heldBack(product, kind).recallAt10, 1)),
    noneOf('no rival is better for a kind', better),
    noneOf('both rivals are beaten for unspaced scripts, identifiers and typos', unbeaten),
    noneOf(
      'no hit fails to match',
      kinds.filter((kind) => heldBack(product, kind).isWrong > 0),
    ),
  ]
}

function isBetter(one: typeof NONE, other: typeof NONE): boolean {
  return one.recallAt10 > other.recallAt10 || one.reciprocalRank > other.reciprocalRank
}

function beats(one: typeof NONE, other: typeof NONE): boolean {
  return isBetter(one, other) && !isBetter(other, one)
}

const atLeast = (what: string, value: number, least: number): Goal => ({
  claim: `held-back ${what} is at least ${least.toFixed(2)}`,
  value: value.toFixed(3),
  isReached: value >= least,
})

const noneOf = (claim: string, exceptions: readonly string[]): Goal => ({
  claim: `held-back: ${claim}`,
  value: exceptions.length === 0 ? 'none' : exceptions.join(', '),
  isReached: exceptions.length === 0,
})
