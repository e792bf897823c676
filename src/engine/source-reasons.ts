import type { PendingLoss } from '../indexer/mass-loss.ts'
import type { SourceEnd } from './writer/messages.ts'

/** What of the sources keeps the mirror from being whole, in words for a person: once, where several read one file. */
export function sourceReasons(ends: readonly SourceEnd[]): string[] {
  return [...new Set(ends.flatMap((end) => [...unreadReason(end), ...pendingReason(end)]))]
}

const unreadReason = ({ state, path, detail }: SourceEnd): string[] =>
  state === 'ok' || state === 'missing' ? [] : [`${state}: ${path}${detail === null ? '' : `: ${detail}`}`]

const pendingReason = ({ path, pendingLoss }: SourceEnd): string[] =>
  pendingLoss === null ? [] : [`pending-loss: ${path}: ${pendingLossText(pendingLoss)}`]

/** Says it to a person, in the status and by the doctor. */
export function pendingLossText({ rows, of }: Pick<PendingLoss, 'rows' | 'of'>): string {
  const [missing, held] = [rows, of].map((count) => count.toLocaleString('en-US'))
  return `${missing} of ${held} rows are missing; the store is being compared once more before they count as deleted. A daemon does that within a minute; "cursordex sync --full" does it now.`
}
