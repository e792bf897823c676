import type { Half } from '../queries/index.ts'
import type { Measured, Score } from './measure.ts'

/** The questions of one half without a perfect answer: recall@10, MRR and the question. */
export function missesOf(measured: readonly Measured[], half: Half): string {
  return measured
    .filter(({ question, score }) => question.from.half === half && isMissed(score))
    .map(({ question: { ask, from }, score }) => {
      const figures = [score.recallAt10, score.reciprocalRank].map((value) => value.toFixed(2)).join(' ')
      return `${from.kind} ${figures}${score.isWrong > 0 ? ' wrong' : ''}: ${ask.q}`
    })
    .join('\n')
}

const isMissed = ({ recallAt10, reciprocalRank, isWrong }: Score): boolean =>
  recallAt10 < 1 || reciprocalRank < 1 || isWrong > 0
