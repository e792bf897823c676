/**
 * The letters that must be added, dropped, replaced, or swapped with their neighbour to make one word of another (optimal
 * string alignment: two letters are swapped at most once).
 * @param isUnfinished whether the word is still being typed. Then it is compared with the beginnings of the other one
 * @param most of a greater distance, only that it is greater. Most words differ from their first letters on
 */
export function editDistance(typed: string, word: string, isUnfinished = false, most = Infinity): number {
  const letters = Array.from(typed)
  let before: readonly number[] = []
  let above: readonly number[] = [0, ...letters.map((_, at) => at + 1)]
  let last = ''
  let nearest = 0
  let least = letters.length
  for (const letter of word) {
    let left = (above[0] ?? 0) + 1
    const row = [left]
    const nearestAbove = nearest
    nearest = left
    for (let at = 0; at < letters.length; at += 1) {
      const own = letters[at]
      left = Math.min((above[at] ?? 0) + (own === letter ? 0 : 1), (above[at + 1] ?? 0) + 1, left + 1)
      if (own === last && at > 0 && letters[at - 1] === letter) left = Math.min(left, (before[at - 1] ?? 0) + 1)
      nearest = Math.min(nearest, left)
      row.push(left)
    }
    before = above
    above = row
    last = letter
    least = Math.min(least, left)
    if (nearest > most && nearestAbove > most) break
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
