import { useLocation } from 'preact-iso'
import type { ComponentChildren } from 'preact'
import type { Stats } from '../../api/http/schemas/stats.ts'
import { queryOf } from '../lib/api.ts'
import { chatAddress, count, cut, percent, plural, projectAddress, visible } from '../lib/format.ts'
import { useData } from '../lib/hooks.ts'
import { Failure, Loading, Notice } from '../lib/parts.tsx'
import { addressWith } from '../search/asked.ts'
import { Chart } from './chart.tsx'
import { CsvLink } from './csv.tsx'
import { DataTable, Figure } from './figure.tsx'
import { dayAt, RangePicker, readRange } from './range.tsx'
import '../styles/report.css'

/** Statistics of everything or of one project. */
export function StatsReport({ base, url }: { base: string; url: string }) {
  const range = readRange(url)
  const tz = Intl.DateTimeFormat().resolvedOptions().timeZone
  const stats = useData<Stats>(`${base}${queryOf({ ...range, tz })}`)
  return (
    <>
      <RangePicker range={range} url={url} />
      {stats.data === null && stats.error === null && <Loading what="statistics" />}
      {stats.error !== null && <Failure error={stats.error} retry={stats.reload} />}
      {stats.data !== null && stats.error === null && <Report stats={stats.data} url={url} />}
    </>
  )
}

function Report({ stats, url }: { stats: Stats; url: string }) {
  const { totals } = stats
  if (totals.messages === 0) {
    return (
      <Notice title="Nothing in this time">
        <p>
          No message was written in this range. <a href={addressWith(url, { from: null, to: null })}>Show all time</a>
        </p>
      </Notice>
    )
  }
  return (
    <>
      <dl class="figures large">
        <Figure name="Chats" value={count(totals.chats)} />
        <Figure name="Messages" value={count(totals.messages)} />
        <Figure name="Prompts" value={count(totals.userMessages)} />
        <Figure name="Tool calls" value={count(totals.toolCalls)} />
        <Figure name="Lines added" value={count(totals.linesAdded)} />
        <Figure name="Lines removed" value={count(totals.linesRemoved)} />
        <Figure name="Active days" value={count(totals.activeDays)} />
      </dl>
      <Activity stats={stats} url={url} />
      <div class="columns">
        <Times title="Hours" names={HOURS} values={stats.byHour} />
        <Times title="Weekdays" names={WEEKDAYS} values={stats.byWeekday} />
      </div>
      <Breakdowns stats={stats} />
    </>
  )
}

function Activity({ stats, url }: { stats: Stats; url: string }) {
  const { route } = useLocation()
  const head = [stats.bucket, 'Messages', 'Prompts', 'Tool calls', 'Chats']
  const rows = stats.series.map((row) => [row.start, row.messages, row.userMessages, row.toolCalls, row.chats])
  return (
    <section>
      <Chart
        title={`Messages by ${stats.bucket}`}
        dates={stats.series.map(({ start }) => start)}
        lines={[
          { name: 'Messages', values: stats.series.map(({ messages }) => messages), colour: 'chart-1' },
          { name: 'Prompts', values: stats.series.map(({ userMessages }) => userMessages), colour: 'chart-2' },
        ]}
        onRange={(from, to) => route(addressWith(url, { from: dayAt(from), to: dayAt(to + 86_400) }))}
      />
      <details class="numbers">
        <summary>Table of {plural(rows.length, stats.bucket)}</summary>
        <CsvLink name={`messages-by-${stats.bucket}.csv`} head={head} rows={rows} />
        <DataTable
          caption={`Messages by ${stats.bucket}`}
          head={head}
          rows={rows.toReversed().map(([start, ...numbers]) => [start, ...numbers.map((each) => count(Number(each)))])}
        />
      </details>
    </section>
  )
}

const HOURS = Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, '0'))
const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

/** A row of bars that is a table: the numbers are read, the bars are seen. */
function Times({ title, names, values }: { title: string; names: readonly string[]; values: readonly number[] }) {
  const most = Math.max(1, ...values)
  return (
    <section>
      <h2 class="section-title">{title}</h2>
      <table class="times">
        <caption class="hidden">Messages by {title.toLowerCase()}</caption>
        <tbody>
          <tr class="times-bars">
            {values.map((value, index) => (
              <td key={names[index]} title={`${names[index]}: ${count(value)}`}>
                <span class="times-bar" style={{ height: `${Math.round((value / most) * 100)}%` }}>
                  <span class="hidden">{count(value)}</span>
                </span>
              </td>
            ))}
          </tr>
          <tr>
            {names.map((name, index) => (
              <th key={name} scope="col" class={names.length > 7 && index % 3 !== 0 ? 'dim' : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </tbody>
      </table>
    </section>
  )
}

interface BreakdownProps {
  readonly title: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly ComponentChildren[])[]
}

const Breakdown = ({ title, head, rows }: BreakdownProps) =>
  rows.length === 0 ? null : (
    <section>
      <h2 class="section-title">{title}</h2>
      <DataTable caption={title} head={head} rows={rows.slice(0, 12)} />
      {rows.length > 12 && (
        <details class="numbers">
          <summary>All {count(rows.length)}</summary>
          <DataTable caption={`${title}, all`} head={head} rows={rows.slice(12, 200)} />
        </details>
      )}
    </section>
  )

const unknown = <span class="soft">unknown</span>

const Breakdowns = ({ stats }: { stats: Stats }) => (
  <div class="columns">
    {stats.byProject.length > 1 && (
      <Breakdown
        title="Projects"
        head={['Project', 'Chats', 'Messages']}
        rows={stats.byProject.map(({ id, name, chats, messages }) => [
          id === null ? unknown : <a href={projectAddress(id)}>{visible(name ?? id)}</a>,
          count(chats),
          count(messages),
        ])}
      />
    )}
    <Breakdown
      title="Tools"
      head={['Tool', 'Calls', 'Failed']}
      rows={stats.byTool.map(({ name, calls, errors }) => [
        visible(name),
        count(calls),
        `${count(errors)} · ${percent(calls === 0 ? null : errors / calls)}`,
      ])}
    />
    <Breakdown
      title="Models"
      head={['Model', 'Chats', 'Messages']}
      rows={stats.byModel.map(({ name, chats, messages }) => [name ?? unknown, count(chats), count(messages)])}
    />
    <Breakdown
      title="Files"
      head={['File', 'Reads', 'Edits']}
      rows={stats.topFiles.map(({ path, reads, edits }) => [
        <span title={path}>{visible(cut(path, 120))}</span>,
        count(reads),
        count(edits),
      ])}
    />
    <Breakdown
      title="Largest chats"
      head={['Chat', 'Messages']}
      rows={stats.largestChats.map(({ id, title, messages }) => [
        <a href={chatAddress(id)}>{visible(cut(title, 80))}</a>,
        count(messages),
      ])}
    />
    <Breakdown
      title="Modes"
      head={['Mode', 'Chats']}
      rows={stats.byMode.map(({ name, chats }) => [name ?? unknown, count(chats)])}
    />
  </div>
)
