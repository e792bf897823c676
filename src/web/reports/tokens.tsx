import { useLocation } from 'preact-iso'
import type { TokensAnswer, TokensRow } from '../../api/answers/tokens.ts'
import { cents, count, plural } from '../lib/format.ts'
import { useData, useTitle } from '../lib/hooks.ts'
import { Figure, Notice, Shown } from '../lib/parts.tsx'
import { Chart } from './charts.tsx'
import { bucketAt, chatsAddress, type Range, RangePicker, readRange, undatedText } from './range.tsx'
import { Breakdown, type Column } from './table.tsx'
import '../styles/report.css'

export default function TokensScreen() {
  useTitle('Usage')
  const { url } = useLocation()
  const range = readRange(url)
  const tz = Intl.DateTimeFormat().resolvedOptions().timeZone
  const { from, to, bucket } = range
  const tokens = useData('/api/tokens', { query: { from, to, tz, groupBy: [bucket] } })
  const models = useData('/api/tokens', { query: { from, to, tz, groupBy: ['model'] } })
  const projects = useData('/api/tokens', { query: { from, to, tz, groupBy: ['project'] } })
  const leads =
    (filter: string) =>
    (key: string): string =>
      chatsAddress(range, { [filter]: key })
  return (
    <main id="main" class="column">
      <h1>Usage</h1>
      <p class="lead">
        Each source of numbers stands by itself. They measure different things and are never added together.
      </p>
      <RangePicker range={range} url={url} />
      <Shown of={tokens} what="tokens">
        {(answer) => <Report answer={answer} range={range} />}
      </Shown>
      {models.data !== null && <Table title="Models" name="Model" answer={models.data} linkOf={leads('model')} />}
      {projects.data !== null && (
        <Table title="Projects" name="Project" answer={projects.data} linkOf={leads('project')} />
      )}
      {tokens.data !== null && <Notes answer={tokens.data} />}
    </main>
  )
}

/** Null if neither is known. */
const both = (sum: { readonly input: number | null; readonly output: number | null } | null): number | null =>
  sum === null || (sum.input === null && sum.output === null) ? null : (sum.input ?? 0) + (sum.output ?? 0)

const BARS_MAX = 1500

/** The buckets of a chart, also those without a row: a gap stays a gap, unless one old date would make thousands of them. */
function datesOf(known: readonly string[], bucket: Range['bucket']): readonly string[] {
  const last = known.at(-1) ?? ''
  const all: string[] = []
  for (let date = known[0]; date !== undefined && date <= last && all.length <= BARS_MAX;) {
    all.push(date)
    date = bucketAt(date, bucket).to
  }
  return all.length > BARS_MAX ? known : all
}

function Report({ answer, range }: { answer: TokensAnswer; range: Range }) {
  const { from, to, bucket } = range
  const { totals, coverage, undated } = answer
  const without = answer.rows.find(({ key }) => key === null)
  if (coverage.messages === 0 && answer.rows.length === 0) return <Notice title="No tokens in this time" />
  const byDate = new Map(answer.rows.flatMap((row) => (row.key === null ? [] : [[row.key, row] as const])))
  const dates = datesOf([...byDate.keys()].toSorted(), bucket)
  const linkOf = (date: string): string => chatsAddress(range, bucketAt(date, bucket))
  return (
    <>
      <dl class="figures large">
        <Figure name="Recorded input" value={count(totals.recorded?.input)} />
        <Figure name="Recorded output" value={count(totals.recorded?.output)} />
        <Figure name="Estimated from text" value={count(both(totals.estimated))} />
        <Figure name="Imported" value={totals.imported === null ? 'no file' : count(totals.imported.total)} />
        <Figure name="Recorded cost" value={cents(totals.recordedCents)} />
        <Figure name="At list price" value={cents(totals.priced?.cents)} />
      </dl>
      <p class="soft">
        Of {plural(coverage.messages, 'message')}, {count(coverage.recorded)} have recorded tokens,{' '}
        {count(coverage.estimated)} are estimated from their text, {count(coverage.unknown)} are unknown.
      </p>
      {undated.messages > 0 && (
        <p class="soft">
          {undatedText(undated.messages, from ?? to)}
          {without !== undefined &&
            ` They have ${plural(both(without.recorded) ?? 0, 'recorded token')} and ${plural(both(without.estimated) ?? 0, 'estimated one')}.`}
        </p>
      )}
      <section>
        <Chart
          title={`Recorded and estimated tokens by ${bucket}`}
          dates={dates}
          lines={[
            { name: 'Recorded', values: dates.map((date) => both(byDate.get(date)?.recorded ?? null)) },
            { name: 'Estimated', values: dates.map((date) => both(byDate.get(date)?.estimated ?? null)) },
          ]}
          linkOf={linkOf}
        />
        {/* Rows without a time are last. */}
        <Table
          title={`By ${bucket}`}
          name={bucket}
          answer={{ ...answer, rows: answer.rows.toSorted((a, b) => ((a.key ?? '') < (b.key ?? '') ? 1 : -1)) }}
          linkOf={linkOf}
        />
      </section>
    </>
  )
}

interface TableProps {
  readonly title: string
  readonly name: string
  readonly answer: TokensAnswer
  /** The chats behind a row. Messages without a time, model or project have none. */
  readonly linkOf: (key: string) => string
}

const Table = ({ title, name, answer: { rows, imports, omitted }, linkOf }: TableProps) => (
  <Breakdown
    title={title}
    caption={`Tokens: ${title}`}
    columns={[
      {
        name,
        value: ({ label }) => label.replace(/^week of /, ''),
        link: ({ key }) => (key === null ? null : linkOf(key)),
      },
      ...sources,
      ...(imports === null ? [] : [{ name: 'Imported', value: (row: TokensRow) => row.imported?.total ?? null }]),
      money('Recorded cost', ({ recordedCents }) => recordedCents),
      money('At list price', ({ priced }) => priced?.cents ?? null),
    ]}
    rows={rows}
    note={omitted ?? undefined}
  />
)

const sources: readonly Column<TokensRow>[] = [
  { name: 'Recorded input', value: ({ recorded }) => recorded?.input ?? null },
  { name: 'Recorded output', value: ({ recorded }) => recorded?.output ?? null },
  { name: 'Estimated', value: ({ estimated }) => both(estimated) },
]

const money = (name: string, value: (row: TokensRow) => number | null): Column<TokensRow> => ({
  name,
  value,
  show: (row) => cents(value(row)),
})

const Notes = ({ answer }: { answer: TokensAnswer }) => (
  <details class="numbers">
    <summary class="soft">What these numbers are</summary>
    <ul class="notes">
      {answer.notes.map((note) => (
        <li key={note}>{note}</li>
      ))}
      {answer.prices !== null && (
        <li>
          List prices from {answer.prices.source}, as of {answer.prices.asOf}.
        </li>
      )}
    </ul>
  </details>
)
