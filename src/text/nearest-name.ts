import { nearTerms } from './near-terms.ts'

/** No known name is longer. The limit bounds the work, which grows with the length of the typed name. */
const TYPED_LENGTH_MAX = 40

/**
 * The known name that a mistyped one most likely means, or null if none is near. Of two equally near names, one that begins
 * with the typed text wins, because names are more often incomplete than misspelled.
 */
export function nearestName(typed: string, known: readonly string[]): string | null {
  const wanted = typed.slice(0, TYPED_LENGTH_MAX).toLowerCase()
  const distanceMax = Math.max(2, Math.floor(typed.length / 3))
  const near = known.flatMap((name) => {
    const lowered = name.toLowerCase()
    return nearTerms(wanted, (from) => (lowered >= from ? lowered : undefined), { distanceMax }).map(
      ({ distance }) => ({
        name,
        rank: lowered.startsWith(wanted) ? distance - 0.5 : distance,
      }),
    )
  })
  return near.toSorted((a, b) => a.rank - b.rank)[0]?.name ?? null
}
