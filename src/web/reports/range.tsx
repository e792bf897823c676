import { useLocation } from 'preact-iso'
import { dayOf, plural, shiftedDay } from '../lib/format.ts'
import { queryOf } from '../lib/api.ts'
import { addressWith } from '../search/asked.ts'
import { DayField } from '../search/menus.tsx'

export interface Range {
  readonly from: string | null
  readonly to: string | null
  readonly bucket: (typeof BUCKETS)[number]
  readonly project?: string | null
}

const BUCKETS = ['day', 'week', 'month'] as const
const PRESETS = [
  ['7 days', '7d', 'day'],
  ['30 days', '30d', 'day'],
  ['90 days', '90d', null],
  ['1 year', '365d', null],
  ['All', null, null],
] as const

export function readRange(url: string): Range {
  const params = new URL(url, location.origin).searchParams
  const bucket = BUCKETS.find((each) => each === params.get('bucket')) ?? 'week'
  return { from: params.get('from'), to: params.get('to'), bucket }
}

/** The chats behind a number: those of this range, with what else it counts. */
export const chatsAddress = (
  { from, to, project = null }: Range,
  counted: Readonly<Record<string, string | null>>,
): string => `/${queryOf({ from, to, project, ...counted })}`

/** The days of a bucket. @param start its first day */
export function bucketAt(start: string, bucket: Range['bucket']): { from: string; to: string } {
  const [year = 0, month = 1, date = 1] = start.split('-').map(Number)
  const next =
    bucket === 'month' ? new Date(year, month, 1) : new Date(year, month - 1, date + (bucket === 'day' ? 1 : 7))
  return { from: start, to: dayOf(next) }
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
        {PRESETS.map(([name, from, bucket]) => (
          <button
            key={name}
            type="button"
            aria-pressed={range.from === from && range.to === null}
            onClick={() => set({ from, to: null, ...(bucket === null ? {} : { bucket }) })}
          >
            {name}
          </button>
        ))}
      </div>
      <div class="segments" role="group" aria-label="Columns by">
        {BUCKETS.map((bucket) => (
          <button key={bucket} type="button" aria-pressed={range.bucket === bucket} onClick={() => set({ bucket })}>
            {bucket}
          </button>
        ))}
      </div>
      <DayField name="From" date={range.from} set={(from) => set({ from })} />
      {/* The API's bound is exclusive; people name the last day. */}
      <DayField name="to" date={shiftedDay(range.to, -1)} set={(to) => set({ to: shiftedDay(to, 1) })} />
    </div>
  )
}
