import { saveBlob } from './api.ts'

export type Cell = string | number | null

function cellText(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell === 'number') return String(cell)
  // A spreadsheet would run such a text as a formula, and anyone may have written the title of a chat.
  const harmless = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

/** Saves rows as CSV (RFC 4180). Null becomes an empty cell. */
export function saveCsv(name: string, rows: readonly (readonly Cell[])[]): void {
  const text = rows.map((row) => `${row.map(cellText).join(',')}\r\n`).join('')
  saveBlob(new Blob([text], { type: 'text/csv' }), name)
}
