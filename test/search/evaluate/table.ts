import { halves } from '../queries/index.ts'
import type { Goal } from './goals.ts'
import type { KindScore } from './measure.ts'

export interface Column {
  readonly name: string
  readonly scores: readonly KindScore[]
}

const NAME_WIDTH = 12
const CELL_WIDTH = 22

/** One table per half, one line per kind. For each search: recall@1, recall@10, MRR and the share of wrong answers. */
export function tableOf(columns: readonly Column[], goals: readonly Goal[]): string {
  const halfTables = halves.map((half) => {
    const head = [half.padEnd(NAME_WIDTH), '  n', ...columns.map(({ name }) => name.padEnd(CELL_WIDTH))].join(' | ')
    const legend = [
      ''.padEnd(NAME_WIDTH),
      '   ',
      ...columns.map(() => ' r@1  r@10  MRR  wrong'.padEnd(CELL_WIDTH)),
    ].join(' | ')
    const rows = (columns[0]?.scores ?? [])
      .filter((score) => score.half === half)
      .map(({ kind, count }) => {
        const cells = columns.map(({ scores }) =>
          cellOf(scores.find((each) => each.half === half && each.kind === kind)),
        )
        return [(kind ?? 'all').padEnd(NAME_WIDTH), String(count).padStart(3), ...cells].join(' | ')
      })
    return [head, legend, ...rows].join('\n')
  })
  const verdicts = goals.map(
    ({ claim, isReached, value }) => `${isReached ? 'reached' : 'MISSED '}  ${claim}: ${value}`,
  )
  return [...halfTables, verdicts.join('\n')].join('\n\n')
}

function cellOf(score: KindScore | undefined): string {
  if (score === undefined) return ''.padEnd(CELL_WIDTH)
  const { recallAt1, recallAt10, reciprocalRank, isWrong } = score
  return [recallAt1, recallAt10, reciprocalRank, isWrong]
    .map((value) => value.toFixed(2))
    .join('  ')
    .padEnd(CELL_WIDTH)
}
