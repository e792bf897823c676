/** No name is longer, and the work grows with the length of what was typed. */
const TYPED_LENGTH_MAX = 40

/** The known name that a mistyped one most likely meant, or null where none is near. */
export function nearestName(typed: string, known: readonly string[]): string | null {
  const wanted = typed.slice(0, TYPED_LENGTH_MAX).toLowerCase()
  let best: string | null = null
  let bestDistance = Math.max(2, Math.floor(typed.length / 3)) + 1
  for (const name of known) {
    const distance = editDistance(wanted, name.toLowerCase())
    if (distance < bestDistance) {
      best = name
      bestDistance = distance
    }
  }
  return best
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
