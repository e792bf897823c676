import { csvText, type Cell } from '../../shared/csv.ts'
import type { TokensAnswer, TokenSources } from '../answers/tokens.ts'

/** One column per number and source. An empty cell is unknown. */
const columns: readonly (readonly [name: string, read: (row: TokenSources) => Cell])[] = [
  ['messages', (row) => row.coverage.messages],
  ['messages recorded', (row) => row.coverage.recorded],
  ['messages estimated', (row) => row.coverage.estimated],
  ['messages unknown', (row) => row.coverage.unknown],
  ['recorded input', (row) => row.recorded?.input],
  ['recorded output', (row) => row.recorded?.output],
  ['recorded cents', (row) => row.recordedCents],
  ['recorded at list price, cents', (row) => row.priced?.cents],
  ['recorded messages priced', (row) => row.priced?.messages],
  ['recorded messages unpriced', (row) => row.priced?.unpriced],
  ['imported input', (row) => row.imported?.input],
  ['imported cache write', (row) => row.imported?.cacheWrite],
  ['imported cache read', (row) => row.imported?.cacheRead],
  ['imported output', (row) => row.imported?.output],
  ['imported total', (row) => row.imported?.total],
  ['imported cents', (row) => row.imported?.cents],
  ['imported rows', (row) => row.imported?.events],
  ['estimated input', (row) => row.estimated?.input],
  ['estimated output', (row) => row.estimated?.output],
  ['context snapshot', (row) => row.contextSnapshot?.tokens],
  ['context snapshot chats', (row) => row.contextSnapshot?.chats],
]

/**
 * The rows as CSV with a header; for several groupings with a column for the key of each. There is no row of totals: a
 * spreadsheet would add it to the others.
 */
export const ledgerCsv = ({ rows }: Pick<TokensAnswer, 'rows'>, groupBy: readonly string[]): string =>
  csvText([
    [...(groupBy.length > 1 ? groupBy : ['key']), 'label', ...columns.map(([name]) => name)],
    ...rows.map((row) => [...(row.keys ?? [row.key]), row.label, ...columns.map(([, read]) => read(row))]),
  ])
