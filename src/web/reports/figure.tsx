import type { ComponentChildren } from 'preact'

export const Figure = ({ name, value }: { name: string; value: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </div>
)

/** Columns after the first are numbers. */
export interface TableProps {
  readonly caption: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly ComponentChildren[])[]
}

export const DataTable = ({ caption, head, rows }: TableProps) => (
  <div class="table-box" tabIndex={0} role="region" aria-label={caption}>
    <table>
      <caption class="hidden">{caption}</caption>
      <thead>
        <tr>
          {head.map((name, index) => (
            <th key={name} scope="col" class={index > 0 ? 'number' : undefined}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([first, ...rest], index) => (
          <tr key={index}>
            <th scope="row">{first}</th>
            {rest.map((cell, column) => (
              <td key={column} class="number">
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
