import { useLocation } from 'preact-iso'
import { plural } from '../lib/format.ts'
import { addressWith } from '../search/asked.ts'

export interface Range {
  readonly from: string | null
  readonly to: string | null
  readonly bucket: (typeof BUCKETS)[number]
}

const BUCKETS = ['day', 'week', 'month'] as const
const PRESETS = [
  ['7 days', 7],
  ['30 days', 30],
  ['90 days', 90],
  ['1 year', 365],
  ['All', null],
] as const

/** A local date, as the API reads it. */
const dayOf = (date: Date): string =>
  `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}-${String(date.getDate()).padStart(2, '0')}`

export const dayAt = (seconds: number): string => dayOf(new Date(seconds * 1000))

function daysAgo(days: number): string {
  const date = new Date()
  date.setDate(date.getDate() - days + 1)
  return dayOf(date)
}

const DATE = /^\d{4}-\d\d-\d\d$/

/** The date some days after another; '' if it is none. */
function shifted(date: string | null, days: number): string {
  if (date === null || !DATE.test(date)) return ''
  const time = Date.parse(date) + days * 86_400_000
  return new Date(time).toISOString().slice(0, 10)
}

export function readRange(url: string): Range {
  const params = new URL(url, location.origin).searchParams
  const bucket = BUCKETS.find((each) => each === params.get('bucket')) ?? 'week'
  return {
    from: params.get('from'),
    to: params.get('to'),
    bucket,
  }
}

/** What is in no chart. @param bound of the range, which leaves it out of the figures too; null without one */
export const undatedText = (messages: number, bound: string | null): string =>
  `${plural(messages, 'message')} without a time: ${bound === null ? 'in the figures, not in the chart' : 'not counted in a range of time'}.`

export function RangePicker({ range, url }: { range: Range; url: string }) {
  const { route } = useLocation()
  const set = (changes: Readonly<Record<string, string | null>>): void => route(addressWith(url, changes))
  return (
    <div class="range">
      <div class="segments" role="group" aria-label="Time range">
        {PRESETS.map(([name, days]) => {
          const from = days === null ? null : daysAgo(days)
          return (
            <button
              key={name}
              type="button"
              aria-pressed={range.from === from && range.to === null}
              onClick={() => set({ from, to: null, ...(days !== null && days <= 30 ? { bucket: 'day' } : {}) })}
            >
              {name}
            </button>
          )
        })}
      </div>
      <div class="segments" role="group" aria-label="Columns by">
        {BUCKETS.map((bucket) => (
          <button key={bucket} type="button" aria-pressed={range.bucket === bucket} onClick={() => set({ bucket })}>
            {bucket}
          </button>
        ))}
      </div>
      <label>
        From{' '}
        <input
          type="date"
          value={shifted(range.from, 0)}
          onChange={(event) => set({ from: event.currentTarget.value })}
        />
      </label>
      <label>
        {/* The API's bound is exclusive; people name the last day. */}
        to{' '}
        <input
          type="date"
          value={shifted(range.to, -1)}
          onChange={(event) => set({ to: shifted(event.currentTarget.value, 1) })}
        />
      </label>
    </div>
  )
}
