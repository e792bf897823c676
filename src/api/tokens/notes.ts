import type { TokenSources, TokensRequest } from './request.ts'

const ESTIMATED =
  'Estimated: the visible text of each message counted once, by the encoding o200k_base. It says what was written and read, not what was billed: a model reads the whole chat again for every answer, and much that no chat shows.'
const RECORDED =
  'Recorded: what Cursor wrote down, on the last answer of a turn only and not since early 2026; input is all that this request read.'
const SNAPSHOT =
  'Context snapshot: how full each chat’s context was when it was last used, by the day of its last activity. It is a state, not a sum of what was used.'
const IMPORTED = 'Imported: rows of usage files that you handed in, by their own time and model.'
const PRICED = 'Priced: recorded tokens by list prices, as if nothing had been cached. Nothing estimated is priced.'
const UNDATED = 'A row without a key holds messages of which nothing tells the time.'
const LEFT_OUT = 'Messages of which nothing tells the time are left out of a stretch of time.'

const unpricedNote = ({ messages, unpriced }: NonNullable<TokenSources['priced']>): string =>
  `Of ${messages + unpriced} recorded messages ${unpriced} ${unpriced === 1 ? 'is' : 'are'} unpriced: the list does not know the model, or half of the count is not known.`

/** What the numbers are and are not, for whoever reads them: only of what is there. */
export function tokenNotes(
  request: TokensRequest,
  { recorded, imported, estimated, contextSnapshot, priced }: TokenSources,
  { hasUndated, rows }: { readonly hasUndated: boolean; readonly rows: number },
): string[] {
  const isOfTime = ['day', 'week', 'month'].includes(request.groupBy)
  const isBounded = request.fromMs !== null || request.toMs !== null
  const sources = [recorded, imported, estimated, contextSnapshot].filter((source) => source !== null)
  return [
    sources.length > 1 ? 'The sources stand side by side and are never added to each other.' : null,
    recorded === null ? null : RECORDED,
    imported === null ? null : IMPORTED,
    estimated === null ? null : ESTIMATED,
    contextSnapshot === null ? null : SNAPSHOT,
    priced === null ? null : PRICED,
    priced === null || priced.unpriced === 0 ? null : unpricedNote(priced),
    isBounded ? LEFT_OUT : isOfTime && hasUndated ? UNDATED : null,
    rows > request.limit ? `Only the first ${request.limit} of ${rows} rows are told; the totals are of all.` : null,
  ].filter((note) => note !== null)
}
