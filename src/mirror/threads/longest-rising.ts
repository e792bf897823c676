export interface Pair {
  readonly piece: number
  readonly item: number
}

/**
 * The largest set of pairs that do not cross (longest increasing subsequence).
 * @param pairs by ascending `piece`
 */
export function longestRising(pairs: readonly Pair[]): readonly Pair[] {
  interface Run {
    readonly pair: Pair
    readonly before: Run | null
  }
  /** By length: the run of that length with the lowest last item. */
  const runs: Run[] = []
  for (const pair of pairs) {
    let [low, high] = [0, runs.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((runs[middle]?.pair.item ?? 0) < pair.item) low = middle + 1
      else high = middle
    }
    runs[low] = { pair, before: runs[low - 1] ?? null }
  }
  const found: Pair[] = []
  for (let run = runs.at(-1) ?? null; run !== null; run = run.before) found.push(run.pair)
  return found.reverse()
}
