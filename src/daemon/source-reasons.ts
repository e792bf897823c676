import type { SourceEnd } from './ingest-messages.ts'

/** What of the sources keeps the mirror from being whole, in words for a person: once, where several read one file. */
export function sourceReasons(ends: readonly SourceEnd[]): string[] {
  return [...new Set(ends.flatMap((end) => [...unreadReason(end), ...pendingReason(end)]))]
}

const unreadReason = ({ state, path, detail }: SourceEnd): string[] =>
  state === 'ok' || state === 'missing' ? [] : [`${state}: ${path}${detail === null ? '' : `: ${detail}`}`]

function pendingReason({ path, pendingLoss }: SourceEnd): string[] {
  if (pendingLoss === null) return []
  const [rows, of] = [pendingLoss.rows, pendingLoss.of].map((count) => count.toLocaleString('en-US'))
  return [
    `pending-loss: ${path}: ${rows} of ${of} rows vanished at once; they are kept as they were until a look a minute later, or a full sync, misses them too`,
  ]
}
