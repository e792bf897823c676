/** Null and undefined become an empty cell: unknown is never 0. */
export type Cell = string | number | null | undefined

/** Rows as CSV (RFC 4180). */
export const csvText = (rows: readonly (readonly Cell[])[]): string =>
  rows.map((row) => `${row.map(cellText).join(',')}\r\n`).join('')

function cellText(cell: Cell): string {
  if (cell === null || cell === undefined) return ''
  if (typeof cell === 'number') return String(cell)
  // A spreadsheet would run such a text as a formula, and anyone may have written the title of a chat.
  const harmless = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
