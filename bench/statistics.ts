export const median = (numbers: readonly number[]): number => percentile(numbers, 50)

/** The percentile: the smallest value that so many percent of the values do not exceed. NaN without values. */
export function percentile(numbers: readonly number[], percent: number): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN
}

/** Three significant digits, or more if there are more before the decimal point. */
export function short(number: number): string {
  if (!Number.isFinite(number)) return '-'
  const size = Math.abs(number)
  return number.toFixed(size >= 100 || size === 0 ? 0 : size >= 10 ? 1 : size >= 0.01 ? 2 : 4)
}

export const megabytes = (bytes: number): string => short(bytes / 1e6)

/** A line of a table: what was timed, its median, its ratio to the floor of the same round, and all rounds. */
export function lineBesideFloor(what: string, times: readonly number[], floors: readonly number[]): string[] {
  const ratios = times.map((time, round) => time / (floors[round] ?? Number.NaN))
  return [what, short(median(times)), short(median(ratios)), times.map(short).join(', ')]
}

/** A Markdown table with aligned columns. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)))
  const line = (cells: readonly string[], fill = ' '): string =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width, fill)).join(' | ')} |`
  return [line(head), line([], '-'), ...rows.map((row) => line(row))].join('\n')
}
