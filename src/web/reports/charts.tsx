import type { Stats } from '../../api/answers/stats.ts'
import { compact, count, plural } from '../lib/format.ts'
import { type Column, CsvButton } from './table.tsx'

interface Line {
  readonly name: string
  readonly values: readonly (number | null)[]
}

interface ChartProps {
  readonly title: string
  /** First dates of the buckets, `YYYY-MM-DD`. */
  readonly dates: readonly string[]
  /** Two at most: each has a colour. */
  readonly lines: readonly Line[]
  /** The chats behind a bucket. */
  readonly linkOf: (date: string) => string
}

/** Bars over time, each a link. The table below them says the same to those who do not see them. */
export function Chart({ title, dates, lines, linkOf }: ChartProps) {
  const most = Math.max(1, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0)))
  const middle = dates[Math.floor((dates.length - 1) / 2)]
  return (
    <figure class="chart">
      <figcaption class="head">
        <b>{title}</b>
        <span class="inline legend">
          {lines.map(({ name, values }) => (
            <span key={name}>
              {name} <b>{count(values.reduce<number>((sum, value) => sum + (value ?? 0), 0))}</b>
            </span>
          ))}
        </span>
      </figcaption>
      <div aria-hidden="true">
        <p class="soft small">{compact(most)}</p>
        <div class="bars">
          {dates.map((date, index) => (
            <a
              key={date}
              href={linkOf(date)}
              tabIndex={-1}
              title={[date, ...lines.map(({ name, values }) => `${name}: ${count(values[index])}`)].join('\n')}
            >
              {lines.map(({ name, values }) => (
                <span key={name} style={{ height: `${(100 * (values[index] ?? 0)) / most}%` }} />
              ))}
            </a>
          ))}
        </div>
        <p class="spread soft small">
          {[dates[0], ...(dates.length > 2 ? [middle] : []), ...(dates.length > 1 ? [dates.at(-1)] : [])].map(
            (date) => (
              <span key={date}>{date}</span>
            ),
          )}
        </p>
      </div>
    </figure>
  )
}

const HOURS = Array.from({ length: 24 }, (_, hour) => `${String(hour).padStart(2, '0')}:00`)
const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
/** How many shades cells with messages have. Cells without have none. */
const SHADES = 5

const hourColumns = (week: Stats['byHourOfWeek']): readonly Column<number>[] => [
  { name: 'Hour', value: (hour) => HOURS[hour] },
  ...WEEKDAYS.map((name, day) => ({ name, value: (hour: number) => week[day]?.[hour] ?? 0 })),
]

/** When messages were written, in local time: a table whose cells are shaded. */
export function Hours({ stats: { byHourOfWeek: week, timeZone } }: { stats: Stats }) {
  const title = 'Messages by hour and weekday'
  const most = Math.max(1, ...week.flat())
  // By the square root, so that one busy hour does not make all others pale.
  const strengthOf = (messages: number): string => `${5 + 19 * Math.ceil(Math.sqrt(messages / most) * SHADES)}%`
  return (
    <figure class="chart">
      <figcaption class="head">
        <b>{title}</b>
        <span class="soft">
          {timeZone}, up to {plural(most, 'message')}{' '}
          <CsvButton title={title} columns={hourColumns(week)} rows={HOURS.map((_, hour) => hour)} />
        </span>
      </figcaption>
      <table class="heatmap" aria-label={title}>
        <tbody>
          {week.map((hours, day) => (
            <tr key={day}>
              <th scope="row">{WEEKDAYS[day]}</th>
              {hours.map((messages, hour) => (
                <td
                  key={hour}
                  class={messages === 0 ? undefined : 'busy'}
                  style={{ '--strength': strengthOf(messages) }}
                  title={`${WEEKDAYS[day]} ${HOURS[hour]}: ${count(messages)}`}
                >
                  <span class="hidden">{count(messages)}</span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <td />
            {HOURS.map((name, hour) => (
              <th key={name} scope="col">
                {hour % 3 === 0 ? name.slice(0, 2) : <span class="hidden">{name}</span>}
              </th>
            ))}
          </tr>
        </tfoot>
      </table>
    </figure>
  )
}
