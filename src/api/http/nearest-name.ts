/** The known name that an unknown one was probably meant to be; null where none is near. */
export function nearestName(name: string, known: readonly string[]): string | null {
  const wanted = name.slice(0, 40).toLowerCase()
  let best: { name: string; distance: number } | null = null
  for (const candidate of known) {
    const distance = editDistance(wanted, candidate.toLowerCase())
    const isNear = distance <= Math.max(1, Math.floor(candidate.length / 3))
    if (isNear && (best === null || distance < best.distance)) best = { name: candidate, distance }
  }
  return best?.name ?? null
}

/** How many letters must be put in, taken out or changed (Levenshtein). */
function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (const [rowIndex, letter] of Array.from(left).entries()) {
    const next = [rowIndex + 1]
    for (const [index, other] of Array.from(right).entries()) {
      const changed = (row[index] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(changed, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
