import { useLocation } from 'preact-iso'
import type { FacetValue, SearchAnswer } from '../../api/answers/search.ts'
import { atLeast, count } from '../lib/format.ts'
import { addressWith, type Asked, type Filter, FILTERS } from './asked.ts'

type FacetFilter = Filter | 'month'

const FACETS: readonly (readonly [facet: string, filter: FacetFilter, name: string])[] = [
  ['project', 'project', 'Project'],
  ['role', 'role', 'Said by'],
  ['part', 'in', 'Found in'],
  ['tool', 'tool', 'Tool'],
  ['model', 'model', 'Model'],
  ['machine', 'machine', 'Machine'],
  ['month', 'month', 'Month'],
]
const SHOWN = 6
/** The server gives no more values of a facet. */
const VALUES_MAX = 100

/** The first day of a month and of the next one. */
function boundsOf(month: string): { from: string; to: string } {
  const [year = 0, number = 1] = month.split('-').map(Number)
  const next = new Date(Date.UTC(year, number, 1)).toISOString().slice(0, 10)
  return { from: `${month.slice(0, 7)}-01`, to: next }
}

function chosenIn(asked: Asked, filter: FacetFilter): readonly string[] {
  if (filter !== 'month') return asked.filters[filter] ?? []
  const month = asked.from?.slice(0, 7)
  return month !== undefined && boundsOf(month).from === asked.from && boundsOf(month).to === asked.to ? [month] : []
}

function toggled(url: string, asked: Asked, filter: FacetFilter, value: string): string {
  const chosen = chosenIn(asked, filter)
  const isOn = chosen.includes(value)
  if (filter === 'month') return addressWith(url, isOn ? { from: null, to: null } : boundsOf(value))
  return addressWith(url, { [filter]: isOn ? chosen.filter((each) => each !== value) : [...chosen, value] })
}

/** Without chats of other machines there is no choice between machines. */
function valuesOf(answer: SearchAnswer | null, facet: string): readonly FacetValue[] {
  const values = answer?.facets[facet] ?? []
  return facet === 'machine' && values.every(({ value }) => value === 'local') ? [] : values
}

export function Facets({ answer, asked, url }: { answer: SearchAnswer | null; asked: Asked; url: string }) {
  const isWide = matchMedia('(min-width: 60rem)').matches
  // The column stays, so that results do not move.
  const isEmpty = answer !== null && FACETS.every(([facet]) => valuesOf(answer, facet).length === 0)
  if (isEmpty) return <div class="facets" />
  return (
    <aside class="facets" aria-label="Filters">
      <details open={isWide}>
        <summary>Filters</summary>
        {FACETS.map(([facet, filter, name]) => (
          <Facet
            key={facet}
            name={name}
            values={valuesOf(answer, facet)}
            chosen={chosenIn(asked, filter)}
            addressOf={(value) => toggled(url, asked, filter, value)}
          />
        ))}
        {answer === null && <p class="soft facet-wait">Counting…</p>}
      </details>
    </aside>
  )
}

interface FacetProps {
  readonly name: string
  readonly values: readonly FacetValue[]
  readonly chosen: readonly string[]
  readonly addressOf: (value: string) => string
}

function Facet({ name, values, chosen, addressOf }: FacetProps) {
  if (values.length === 0) return null
  const row = ({ value, label, count: found, countIsExact }: FacetValue) => (
    <li key={value}>
      <a href={addressOf(value)} aria-current={chosen.includes(value) ? 'true' : undefined}>
        <span class="facet-label">{label}</span> <span class="facet-count">{atLeast(countIsExact, count(found))}</span>
      </a>
    </li>
  )
  return (
    <section class="facet">
      <h2>{name}</h2>
      <ul>{values.slice(0, SHOWN).map(row)}</ul>
      {values.length > SHOWN && (
        <details>
          <summary>{atLeast(values.length < VALUES_MAX, `${values.length - SHOWN} more`)}</summary>
          <ul>{values.slice(SHOWN).map(row)}</ul>
        </details>
      )}
    </section>
  )
}

/** The chosen filters, each with a button that removes it. */
export function Chips({ asked, url, answer }: { asked: Asked; url: string; answer: SearchAnswer | null }) {
  const { route } = useLocation()
  const labelOf = (filter: string, value: string): string =>
    answer?.facets[filter === 'in' ? 'part' : filter]?.find((each) => each.value === value)?.label ?? value
  const months = chosenIn(asked, 'month')
  const chips = [
    ...FILTERS.flatMap((filter) =>
      (asked.filters[filter] ?? []).map((value) => ({
        text: `${filter}: ${labelOf(filter, value)}`,
        address: toggled(url, asked, filter, value),
      })),
    ),
    ...months.map((month) => ({ text: `month: ${month}`, address: addressWith(url, { from: null, to: null }) })),
    ...(months.length > 0 || asked.from === null
      ? []
      : [{ text: `from: ${asked.from}`, address: addressWith(url, { from: null }) }]),
    ...(months.length > 0 || asked.to === null
      ? []
      : [{ text: `before: ${asked.to}`, address: addressWith(url, { to: null }) }]),
  ]
  if (chips.length === 0) return null
  return (
    <ul class="chips" aria-label="Chosen filters">
      {chips.map(({ text, address }) => (
        <li key={text}>
          <button type="button" onClick={() => route(address)} aria-label={`Remove ${text}`}>
            {text} <span aria-hidden="true">×</span>
          </button>
        </li>
      ))}
    </ul>
  )
}
