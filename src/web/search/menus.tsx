import { useLocation } from 'preact-iso'
import { useState } from 'preact/hooks'
import type { QueryOf } from '../lib/api.ts'
import { atLeast, count, dayOf, shiftedDay, visible } from '../lib/format.ts'
import { useData } from '../lib/hooks.ts'
import { projects } from '../lib/live.ts'
import { Failure, Menu } from '../lib/parts.tsx'
import { type Asked, type Filter, listAddress, toggled } from './asked.ts'
import { isListing, searchQuery } from './use-found.ts'

type Facet = NonNullable<QueryOf<'/api/search'>['facets']>[number]

const FACETS: readonly (readonly [filter: Filter, facet: Facet, name: string])[] = [
  ['role', 'role', 'Said by'],
  ['in', 'part', 'Found in'],
  ['tool', 'tool', 'Tool'],
  ['project', 'project', 'Project'],
  ['model', 'model', 'Model'],
  ['machine', 'machine', 'Machine'],
]

const SORTS = {
  chats: [
    ['', 'Newest'],
    ['oldest', 'Oldest'],
    ['messages', 'Longest'],
    ['size', 'Largest'],
  ],
  hits: [
    ['', 'Best'],
    ['newest', 'Newest'],
    ['oldest', 'Oldest'],
  ],
} as const

/** Filters and order of the list: one stop of Tab, in which arrows move. */
export function Menus({ asked, hasMachines }: { asked: Asked; hasMachines: boolean }) {
  const { url } = useLocation()
  const [current, setCurrent] = useState(0)
  const facets = FACETS.filter(([filter]) => filter !== 'machine' || hasMachines || asked.filters.machine !== undefined)
  const sorts = isListing(asked) ? SORTS.chats : SORTS.hits
  const sort = sorts.find(([value]) => value === asked.sort) ?? sorts[0]
  const move = (event: KeyboardEvent & { currentTarget: HTMLElement }): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    const buttons = [...event.currentTarget.querySelectorAll<HTMLElement>('.menu > button')]
    const next =
      (buttons.findIndex((button) => button === document.activeElement) + step + buttons.length) % buttons.length
    if (step === 0 || document.activeElement?.matches('.menu > button') !== true) return
    event.preventDefault()
    setCurrent(next)
    buttons[next]?.focus()
  }
  const at = (index: number): number => (index === current ? 0 : -1)
  return (
    <div class="menus" role="toolbar" aria-label="Filters and order" onKeyDown={move}>
      {facets.map(([filter, facet, name], index) => (
        <Menu key={filter} name={name} isChosen={asked.filters[filter] !== undefined} tabIndex={at(index)}>
          {() => <Values asked={asked} filter={filter} facet={facet} />}
        </Menu>
      ))}
      <Menu name="Date" isChosen={(asked.filters.from ?? asked.filters.to) !== undefined} tabIndex={at(facets.length)}>
        {() => <Dates asked={asked} />}
      </Menu>
      <Menu name={sort[1]} isChosen={sort !== sorts[0]} tabIndex={at(facets.length + 1)}>
        {() => (
          <ul>
            {sorts.map(([value, words]) => (
              <Choice
                key={value}
                words={words}
                isChosen={value === sort[0]}
                address={listAddress(url, { sort: value })}
              />
            ))}
          </ul>
        )}
      </Menu>
    </div>
  )
}

const Choice = (given: { words: string; isChosen: boolean; address: string; found?: string }) => (
  <li>
    <a class="spread choice" href={given.address} aria-current={given.isChosen ? 'true' : undefined}>
      <span>{given.words}</span>
      {given.found !== undefined && <span class="soft">{given.found}</span>}
    </a>
  </li>
)

/** A search needs a word or a filter: this one leaves out only what has no time. */
const EVERYTHING = '1970-01-01'

/** The values of a filter, with how many messages each would find. A chosen one does not hide the others. */
function Values({ asked, filter, facet }: { asked: Asked; filter: Filter; facet: Facet }) {
  const { url } = useLocation()
  const { [filter]: chosen = [], ...filters } = asked.filters
  const isEmpty = asked.q.trim() === '' && Object.keys(filters).length === 0
  const query = searchQuery({ ...asked, filters: isEmpty ? { from: [EVERYTHING] } : filters })
  const { data, error } = useData('/api/search', { query: { ...query, facets: [facet], limit: 1 } })
  if (error !== null) return <Failure error={error} />
  if (data === null) return <p class="soft">Counting…</p>
  const values = data.facets[facet] ?? []
  const missing = chosen.filter((value) => values.every((each) => each.value !== value))
  return (
    <ul>
      {missing.map((value) => (
        <Choice
          key={value}
          words={labelOf(filter, value)}
          isChosen
          address={listAddress(url, toggled(asked, filter, value))}
          found="0"
        />
      ))}
      {values.map(({ value, label, count: found, countIsExact }) => (
        <Choice
          key={value}
          words={label}
          isChosen={chosen.includes(value)}
          address={listAddress(url, toggled(asked, filter, value))}
          found={atLeast(countIsExact, count(found))}
        />
      ))}
      {values.length + missing.length === 0 && <li class="soft">Nothing to choose from</li>}
    </ul>
  )
}

/** A value of a filter as a person reads it. */
export const labelOf = (filter: Filter, value: string): string =>
  filter === 'project' ? (projects.value.find(({ id }) => id === value)?.name ?? value) : visible(value)

/** First and, if it ends before today, last day. */
function presets(): readonly (readonly [words: string, from: string, to: string | null])[] {
  const today = new Date()
  const [year, month] = [today.getFullYear(), today.getMonth()]
  return [
    ['Today', 'today', null],
    ['Last 7 days', '7d', null],
    ['Last 30 days', '30d', null],
    ['Last 90 days', '90d', null],
    ['This month', dayOf(new Date(year, month, 1)), null],
    ['Last month', dayOf(new Date(year, month - 1, 1)), dayOf(new Date(year, month, 1))],
    ['This year', dayOf(new Date(year, 0, 1)), null],
  ]
}

function Dates({ asked }: { asked: Asked }) {
  const { url, route } = useLocation()
  const [from, to] = [asked.filters.from?.[0] ?? null, asked.filters.to?.[0] ?? null]
  return (
    <>
      <ul>
        {presets().map(([words, first, end]) => {
          const isChosen = from === first && to === end
          const range = isChosen ? { from: null, to: null } : { from: first, to: end }
          return <Choice key={words} words={words} isChosen={isChosen} address={listAddress(url, range)} />
        })}
      </ul>
      <DayField name="From" date={from} set={(date) => route(listAddress(url, { from: date }))} />
      {/* The bound of a search is exclusive; people name the last day. */}
      <DayField
        name="To"
        date={shiftedDay(to, -1)}
        set={(date) => route(listAddress(url, { to: shiftedDay(date, 1) }))}
      />
    </>
  )
}

export const DayField = ({ name, date, set }: { name: string; date: string | null; set: (date: string) => void }) => (
  <label class="spread">
    {name} <input type="date" value={shiftedDay(date, 0)} onChange={(event) => set(event.currentTarget.value)} />
  </label>
)
