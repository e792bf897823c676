import { count, cut, visible } from '../lib/format.ts'
import { LongText } from './code.tsx'

type Fields = Readonly<Record<string, unknown>>

const DEPTH_MAX = 6
const ROWS_MAX = 200
const COLUMNS_MAX = 8

/** JSON in a string, as tools nest it; the string itself if it is something else. */
function parsed(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

const plain = (value: unknown): string =>
  value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)

const isFlat = (value: unknown): boolean =>
  typeof value !== 'object' ||
  value === null ||
  Object.values(value).every((each) => typeof each !== 'object' || each === null)

const isRow = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && isFlat(value)

/** `{content: [{type: 'text', text}]}` and the like: the words of an answer of MCP. */
function contentOf(value: unknown): unknown {
  const fields = (typeof value === 'object' && value !== null ? value : {}) as Fields
  const list = Array.isArray(value) ? (value as unknown[]) : Array.isArray(fields['content']) ? fields['content'] : null
  const texts = list?.map((each: unknown) => (each as Fields | null)?.['text'])
  if (texts !== undefined && texts.length > 0 && texts.every((text) => typeof text === 'string'))
    return texts.join('\n')
  const names = Object.keys(fields)
  const only = names.length === 1 ? fields[names[0] ?? ''] : undefined
  const isWrapper = /^(?:content|contents|output|result|text|answer|success)$/.test(names[0] ?? '')
  return isWrapper && only !== undefined && !Array.isArray(value) ? only : value
}

/** Any value, as words and not as JSON: fields by name, lists of equal objects as a table. */
export function Value({ value: given, depth = 0 }: { value: unknown; depth?: number }) {
  const inner = contentOf(typeof given === 'string' ? parsed(given) : given)
  const value = typeof inner === 'string' ? parsed(inner) : inner
  if (value === null || value === undefined || value === '') return <span class="soft">nothing</span>
  if (typeof value === 'string')
    return value.length < 80 && !value.includes('\n') ? <>{visible(value)}</> : <LongText text={value} isCode />
  if (typeof value !== 'object') return <>{plain(value)}</>
  const entries = Object.entries(value)
  if (entries.length === 0) return <span class="soft">nothing</span>
  if (depth > DEPTH_MAX) return <LongText text={JSON.stringify(value, null, 2)} isCode />
  if (Array.isArray(value)) {
    const items = value as unknown[]
    if (items.length > 0 && items.every(isRow)) return <Rows rows={items} />
    return (
      <ul class="values">
        {items.slice(0, ROWS_MAX).map((each, index) => (
          <li key={index}>
            <Value value={each} depth={depth + 1} />
          </li>
        ))}
        <LeftOut left={items.length - ROWS_MAX} />
      </ul>
    )
  }
  return (
    <dl class="values">
      {entries.slice(0, ROWS_MAX).map(([name, each]) => (
        <div key={name}>
          <dt>{visible(cut(name, 80))}</dt>
          <dd>
            <Value value={each} depth={depth + 1} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

const LeftOut = ({ left }: { left: number }) => (left > 0 ? <li class="soft">and {count(left)} more</li> : null)

function Rows({ rows }: { rows: readonly Fields[] }) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))].slice(0, COLUMNS_MAX)
  return (
    <div class="table-frame" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col">
                {visible(cut(name, 80))}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, ROWS_MAX).map((row, index) => (
            <tr key={index}>
              {columns.map((name) => (
                <td key={name}>{visible(cut(plain(row[name]), 2000))}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > ROWS_MAX && <p class="soft">and {count(rows.length - ROWS_MAX)} more rows</p>}
    </div>
  )
}
