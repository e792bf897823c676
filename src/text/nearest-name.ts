/**
 * The letters that must be added, dropped, replaced, or swapped with their neighbour to make one word of another (optimal
 * string alignment: two letters are swapped at most once).
 * @param isUnfinished whether the word is still being typed. Then it is compared with the beginnings of the other one
 */
export function editDistance(typed: string, word: string, isUnfinished = false): number {
  const letters = Array.from(typed)
  let before: readonly number[] = []
  let above: readonly number[] = [0, ...letters.map((_, at) => at + 1)]
  let last = ''
  let least = letters.length
  for (const letter of word) {
    const row = [(above[0] ?? 0) + 1]
    for (const [at, own] of letters.entries()) {
      const replaced = (above[at] ?? 0) + (own === letter ? 0 : 1)
      const isSwapped = at > 0 && own === last && letters[at - 1] === letter
      const swapped = isSwapped ? (before[at - 1] ?? Infinity) + 1 : Infinity
      row.push(Math.min(replaced, swapped, (above[at + 1] ?? 0) + 1, (row[at] ?? 0) + 1))
    }
    before = above
    above = row
    last = letter
    least = Math.min(least, row.at(-1) ?? Infinity)
  }
  return isUnfinished ? least : (above.at(-1) ?? 0)
}

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
