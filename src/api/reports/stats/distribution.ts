/** How values lie. Of no values nothing is known. */
export interface Distribution {
  readonly count: number
  readonly min: number | null
  /** By nearest rank: a value that occurs. */
  readonly median: number | null
  readonly p90: number | null
  readonly max: number | null
  /** From `from` on and below `to`, which is null in the last. */
  readonly steps: readonly { readonly from: number; readonly to: number | null; readonly count: number }[]
}

/** @param bounds where steps begin, ascending; the first is the least value there can be */
export function distribute(values: readonly number[], bounds: readonly number[]): Distribution {
  const sorted = Float64Array.from(values).sort()
  const rank = (share: number): number | null => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null
  const below = bounds.map((bound) => countBelow(sorted, bound))
  const steps = bounds.map((from, index) => ({
    from,
    to: bounds[index + 1] ?? null,
    count: (below[index + 1] ?? sorted.length) - (below[index] ?? 0),
  }))
  return { count: sorted.length, min: rank(0), median: rank(0.5), p90: rank(0.9), max: rank(1), steps }
}

function countBelow(sorted: Float64Array, bound: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] ?? Infinity) < bound) low = middle + 1
    else high = middle
  }
  return low
}
