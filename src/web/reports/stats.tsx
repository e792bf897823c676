import { useLocation } from 'preact-iso'
import type { Stats } from '../../api/answers/stats.ts'
import { count, fileAddress, percent, plural } from '../lib/format.ts'
import { useData, useTitle } from '../lib/hooks.ts'
import { Figure, Notice, Shown } from '../lib/parts.tsx'
import { addressWith } from '../search/asked.ts'
import { Chart, Hours } from './charts.tsx'
import { bucketAt, chatsAddress, type Range, RangePicker, readRange, undatedText } from './range.tsx'
import { Breakdown, type Column, CsvButton, DataTable } from './table.tsx'
import '../styles/report.css'

export default function StatsScreen() {
  useTitle('Activity')
  return (
    <main id="main" class="column">
      <h1>Activity</h1>
      <StatsReport />
    </main>
  )
}

/** Statistics of everything or of one project. */
export function StatsReport({ project }: { project?: string }) {
  const { url } = useLocation()
  const range = readRange(url)
  const tz = Intl.DateTimeFormat().resolvedOptions().timeZone
  const stats = useData('/api/stats', { query: { ...range, tz, project: project === undefined ? null : [project] } })
  return (
    <>
      <RangePicker range={range} url={url} />
      <Shown of={stats} what="statistics">
        {(data) => <Report stats={data} range={{ ...range, project: project ?? null }} />}
      </Shown>
    </>
  )
}

interface ReportProps {
  readonly stats: Stats
  readonly range: Range
}

function Report({ stats, range }: ReportProps) {
  const { url } = useLocation()
  const { totals } = stats
  if (totals.messages === 0) {
    return (
      <Notice title="Nothing in this time">
        <p>
          No message was written in this range. <a href={addressWith(url, { from: null, to: null })}>Show all time</a>
        </p>
        <NotCharted stats={stats} />
      </Notice>
    )
  }
  return (
    <>
      <dl class="figures large">
        <Figure name="Chats" value={count(totals.chats)} />
        {totals.subagents > 0 && <Figure name="Subagents" value={count(totals.subagents)} />}
        <Figure name="Messages" value={count(totals.messages)} />
        <Figure name="Prompts" value={count(totals.userMessages)} />
        <Figure name="Tool calls" value={count(totals.toolCalls)} />
        <Figure name="Lines added" value={count(totals.linesAdded)} />
        <Figure name="Lines removed" value={count(totals.linesRemoved)} />
        <Figure name="Active days" value={count(totals.activeDays)} />
      </dl>
      <NotCharted stats={stats} />
      <Activity stats={stats} range={range} />
      <Hours stats={stats} />
      <Breakdowns stats={stats} range={range} />
    </>
  )
}

/** Why a chart adds up to less than the figures, or the figures to less than all time. */
const NotCharted = ({ stats: { undated, outOfSeries, uncounted, from, to } }: { stats: Stats }) => (
  <p class="soft">
    {undated.messages > 0 && `${undatedText(undated.messages, from ?? to)} `}
    {outOfSeries.messages > 0 &&
      `${plural(outOfSeries.messages, 'message')} with a time before 2015 or after tomorrow: not in the chart. `}
    {uncounted.chats > 0 && `Tool calls of ${plural(uncounted.chats, 'chat')} are not counted yet.`}
  </p>
)

function Activity({ stats, range }: ReportProps) {
  const title = `Messages by ${stats.bucket}`
  const linkOf = (start: string): string => chatsAddress(range, bucketAt(start, stats.bucket))
  const columns: readonly Column<Stats['series'][number]>[] = [
    { name: stats.bucket, value: ({ start }) => start, link: ({ start }) => linkOf(start) },
    { name: 'Messages', value: ({ messages }) => messages },
    { name: 'Prompts', value: ({ userMessages }) => userMessages },
    { name: 'Tool calls', value: ({ toolCalls }) => toolCalls },
    { name: 'Chats', value: ({ chats }) => chats },
  ]
  return (
    <section>
      <Chart
        title={title}
        dates={stats.series.map(({ start }) => start)}
        lines={[
          { name: 'Messages', values: stats.series.map(({ messages }) => messages) },
          { name: 'Prompts', values: stats.series.map(({ userMessages }) => userMessages) },
        ]}
        linkOf={linkOf}
      />
      <details class="numbers">
        <summary class="soft">Table of {plural(stats.series.length, stats.bucket)}</summary>
        <CsvButton title={title} columns={columns} rows={stats.series} />
        <DataTable caption={title} columns={columns} rows={stats.series.toReversed()} />
      </details>
    </section>
  )
}

const Breakdowns = ({ stats, range }: ReportProps) => {
  const leads =
    (filter: string) =>
    ({ name }: { readonly name: string | null }): string | null =>
      name === null ? null : chatsAddress(range, { [filter]: name })
  const counts = [
    { name: 'Chats', value: ({ chats }: Share) => chats },
    { name: 'Messages', value: ({ messages }: Share) => messages },
  ]
  return (
    <div class="columns">
      {stats.byProject.length > 1 && (
        <Breakdown
          title="Projects"
          columns={[
            {
              name: 'Project',
              value: ({ name }: Stats['byProject'][number]) => name,
              link: ({ id }) => (id === null ? null : chatsAddress(range, { project: id })),
            },
            ...counts,
          ]}
          rows={stats.byProject}
        />
      )}
      <Breakdown
        title="Tools"
        columns={[
          { name: 'Tool', value: ({ name }) => name, link: leads('tool') },
          { name: 'Calls', value: ({ calls }) => calls },
          {
            name: 'Failed',
            value: ({ errors }) => errors,
            show: ({ calls, errors }) => (errors === 0 ? '0' : `${count(errors)} (${percent(errors / calls)})`),
            link: ({ name, errors }) => (errors === 0 ? null : chatsAddress(range, { tool: name, q: 'has:error' })),
          },
        ]}
        rows={stats.byTool}
      />
      <Breakdown
        title="Models"
        columns={[{ name: 'Model', value: ({ name }: Share) => name, link: leads('model') }, ...counts]}
        rows={stats.byModel}
        note="Cursor records the model of few messages."
      />
      <Breakdown
        title="Most used files"
        columns={[
          { name: 'File', value: ({ path }) => path, link: ({ path }) => fileAddress(path) },
          { name: 'Reads', value: ({ reads }) => reads },
          { name: 'Edits', value: ({ edits }) => edits },
        ]}
        rows={stats.topFiles}
        note="The top 20 at most."
      />
    </div>
  )
}

type Share = Stats['byModel'][number]
