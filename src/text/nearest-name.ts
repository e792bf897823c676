/** No known name is longer. The limit bounds the work, which grows with the length of the typed name. */
const TYPED_LENGTH_MAX = 40

/**
 * The known name that a mistyped one most likely means, or null if none is near. Of two equally near names, one that begins
 * with the typed text wins, because names are more often incomplete than misspelled.
 */
export function nearestName(typed: string, known: readonly string[]): string | null {
  const wanted = typed.slice(0, TYPED_LENGTH_MAX).toLowerCase()
  const most = Math.max(2, Math.floor(typed.length / 3))
  const near = known.flatMap((name) => {
    const lowered = name.toLowerCase()
    const distance = editDistance(wanted, lowered)
    return distance > most ? [] : [{ name, rank: lowered.startsWith(wanted) ? distance - 0.5 : distance }]
  })
  return near.toSorted((a, b) => a.rank - b.rank)[0]?.name ?? null
}

/** Levenshtein distance: how many letters must be added, dropped or replaced. */
function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let i = 1; i <= left.length; i++) {
    const next = [i]
    for (let j = 1; j <= right.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[right.length] ?? 0
}
