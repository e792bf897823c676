/** No name is longer, and the work grows with the length of what was typed. */
const TYPED_LENGTH_MAX = 40

/**
 * The known name that a mistyped one most likely meant, or null where none is near. Of two that are as near, it is the one
 * that begins with what was typed, for names are left unfinished more often than they are misspelt.
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

/** How many letters must be added, dropped or replaced. */
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
