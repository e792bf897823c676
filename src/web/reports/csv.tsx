type Cell = string | number | null

const quoted = (cell: Cell): string => {
  const text = cell === null ? '' : String(cell)
  // A spreadsheet would run a cell that begins like a formula.
  const safe = /^[=+\-@\t]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Saves the numbers of a table as a CSV file. */
export function CsvLink({
  name,
  head,
  rows,
}: {
  name: string
  head: readonly string[]
  rows: readonly (readonly Cell[])[]
}) {
  const save = (): void => {
    const text = [head, ...rows].map((row) => row.map(quoted).join(',')).join('\n')
    const address = URL.createObjectURL(new Blob([`${text}\n`], { type: 'text/csv' }))
    const link = document.createElement('a')
    link.href = address
    link.download = name
    link.click()
    setTimeout(() => URL.revokeObjectURL(address), 10_000)
  }
  return (
    <button type="button" class="quiet" onClick={save}>
      Download CSV
    </button>
  )
}
