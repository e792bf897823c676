import type { Stats } from '../../api/answers/stats.ts'
import { count, plural } from '../lib/format.ts'
import { type Column, CsvButton, DataTable } from './table.tsx'

const HOURS = Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, '0'))
const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
/** Shades of cells with messages. Cells without have none. */
const SHADES = [1, 2, 3, 4, 5] as const

interface HourRow {
  readonly hour: string
  /** Starting with Monday. */
  readonly days: readonly number[]
  readonly all: number
}

const perHour = ({ byHourOfWeek, byHour }: Stats): HourRow[] =>
  HOURS.map((hour, index) => ({
    hour: `${hour}:00`,
    days: byHourOfWeek.map((hours) => hours[index] ?? 0),
    all: byHour[index] ?? 0,
  }))

const columns: readonly Column<HourRow>[] = [
  { name: 'Hour', value: ({ hour }) => hour },
  ...WEEKDAYS.map((name, day) => ({
    name,
    value: ({ days }: HourRow) => days[day] ?? 0,
  })),
  { name: 'All days', value: ({ all }) => all },
]

/** When messages were written, in local time. */
export function Hours({ stats }: { stats: Stats }) {
  const title = 'Messages by hour and weekday'
  const rows = perHour(stats)
  const total = {
    hour: 'All hours',
    days: stats.byWeekday,
    all: stats.byWeekday.reduce((sum, messages) => sum + messages, 0),
  }
  return (
    <section>
      <figure class="chart">
        <figcaption>
          {title}
          <Legend most={mostOf(stats)} timeZone={stats.timeZone} />
        </figcaption>
        <Heatmap week={stats.byHourOfWeek} most={mostOf(stats)} />
      </figure>
      <details class="numbers">
        <summary>Table of 24 hours</summary>
        <CsvButton title={title} columns={columns} rows={rows} />
        <DataTable caption={title} columns={columns} rows={[...rows, total]} />
      </details>
    </section>
  )
}

const mostOf = ({ byHourOfWeek }: Stats): number => Math.max(1, ...byHourOfWeek.flat())

const Legend = ({ most, timeZone }: { most: number; timeZone: string }) => (
  <span class="heat-legend">
    <span>{timeZone}: 1</span>
    {SHADES.map((shade) => (
      <span key={shade} class="heat busy" style={strengthOf(shade)} />
    ))}
    <span>{plural(most, 'message')}</span>
  </span>
)

/** How strong the colour of a shade is. */
const strengthOf = (shade: number) => ({ '--strength': `${5 + 19 * shade}%` })

/** 0 without messages. By the square root, so that one busy hour does not make all others pale. */
const shadeOf = (messages: number, most: number): number => Math.ceil(Math.sqrt(messages / most) * SHADES.length)

const Heatmap = ({ week, most }: { week: Stats['byHourOfWeek']; most: number }) => (
  <div class="heatmap" role="img" aria-label="Shades by hour and weekday. The numbers are in the table below.">
    {week.map((hours, day) => [
      <span key={day}>{WEEKDAYS[day]}</span>,
      ...hours.map((messages, hour) => (
        <span
          key={`${day} ${hour}`}
          class={messages === 0 ? 'heat' : 'heat busy'}
          style={strengthOf(shadeOf(messages, most))}
          title={`${WEEKDAYS[day]} ${HOURS[hour]}:00: ${count(messages)}`}
        />
      )),
    ])}
    <span />
    {HOURS.map((name, hour) => (
      <span key={name}>{hour % 3 === 0 && name}</span>
    ))}
  </div>
)
