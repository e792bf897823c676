import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { csvText, type Cell } from '../../shared/csv.ts'
import { saveBlob } from '../lib/acts.ts'
import { messageOf } from '../lib/api.ts'
import { count, cut, projectAddress, UNKNOWN, visible } from '../lib/format.ts'
import { When } from '../lib/parts.tsx'
import type { ProjectRef } from '../../api/answers/projects.ts'

/** A column of a table, and of its CSV file. */
export interface Column<Row> {
  readonly name: string
  readonly value: (row: Row) => Cell
  /** Default: the value. Not used for null, which is shown as unknown. */
  readonly show?: (row: Row) => ComponentChildren
  /** Where the value leads. */
  readonly link?: (row: Row) => string | null
  /** Default: columns after the first are numbers. */
  readonly className?: string
}

function shown<Row>({ value: read, show, link }: Column<Row>, row: Row): ComponentChildren {
  const value = read(row)
  if (value === null || value === undefined) return <span class="soft">{UNKNOWN}</span>
  const text = show !== undefined ? show(row) : typeof value === 'number' ? count(value) : visible(cut(value, 200))
  const address = link?.(row) ?? null
  return address === null ? text : <a href={address}>{text}</a>
}

/** A time in words. */
export const timeColumn = <Row,>(name: string, at: (row: Row) => string | null): Column<Row> => ({
  name,
  value: at,
  show: (row) => <When at={at(row)} />,
  className: 'nowrap',
})

export const projectColumn = <Row extends { readonly project: ProjectRef | null }>(): Column<Row> => ({
  name: 'Project',
  value: ({ project }) => project?.name ?? null,
  link: ({ project }) => (project === null ? null : projectAddress(project.id)),
  className: 'text',
})

interface TableProps<Row> {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
}

export const DataTable = <Row,>({ caption, columns, rows }: TableProps<Row>) => (
  <div class="table-box" tabIndex={0} role="region" aria-label={caption}>
    <table>
      <caption class="hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ name, className = 'number' }, index) => (
            <th key={name} scope="col" class={index > 0 ? className : undefined}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={index}>
            {columns.map((column, place) =>
              place === 0 ? (
                <th key={column.name} scope="row">
                  {shown(column, row)}
                </th>
              ) : (
                <td key={column.name} class={column.className ?? 'number'}>
                  {shown(column, row)}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

interface CsvProps<Row> {
  /** Names the button and the file. */
  readonly title: string
  readonly columns: readonly Column<Row>[]
  /** All rows, also those that are not on the screen. */
  readonly rows: readonly Row[] | (() => Promise<readonly Row[]>)
}

/** Saves a table as a CSV file. */
export function CsvButton<Row>({ title, columns, rows }: CsvProps<Row>) {
  const [failure, setFailure] = useState<string | null>(null)
  const save = async (): Promise<void> => {
    setFailure(null)
    const all = typeof rows === 'function' ? await rows() : rows
    const cells = all.map((row) => columns.map(({ value }) => value(row)))
    const csv = csvText([columns.map(({ name }) => name), ...cells])
    saveBlob(new Blob([csv], { type: 'text/csv' }), `${title.toLowerCase().replaceAll(/\W+/g, '-')}.csv`)
  }
  return (
    <span>
      {failure !== null && (
        <span class="failed" role="alert">
          {failure}
        </span>
      )}
      <button
        type="button"
        class="quiet"
        aria-label={`Download CSV: ${title}`}
        onClick={() => void save().catch((error: unknown) => setFailure(messageOf(error)))}
      >
        Download CSV
      </button>
    </span>
  )
}

const ROWS_SHOWN = 12
const ROWS_MAX = 200

interface BreakdownProps<Row> {
  readonly title: string
  /** Default: the title. */
  readonly caption?: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly note?: string | undefined
}

/** A titled table whose further rows are folded. */
export function Breakdown<Row>({ title, caption = title, columns, rows, note }: BreakdownProps<Row>) {
  if (rows.length === 0) return null
  return (
    <section>
      <div class="head">
        <h2>{title}</h2>
        <CsvButton title={caption} columns={columns} rows={rows} />
      </div>
      {note !== undefined && <p class="soft small">{note}</p>}
      <DataTable caption={caption} columns={columns} rows={rows.slice(0, ROWS_SHOWN)} />
      {rows.length > ROWS_SHOWN && (
        <details class="numbers">
          <summary class="soft">
            {count(Math.min(rows.length, ROWS_MAX) - ROWS_SHOWN)} more
            {rows.length > ROWS_MAX && '; the CSV file has all'}
          </summary>
          <DataTable caption={`${caption}, more`} columns={columns} rows={rows.slice(ROWS_SHOWN, ROWS_MAX)} />
        </details>
      )}
    </section>
  )
}
