import { useLocation } from 'preact-iso'
import type { TokensAnswer, TokensRow } from '../../api/answers/tokens.ts'
import type { QueryOf } from '../lib/api.ts'
import { cents, count, plural } from '../lib/format.ts'
import { useData, useTitle } from '../lib/hooks.ts'
import { Figure, Notice, Shown } from '../lib/parts.tsx'
import { Chart } from './charts.tsx'
import { bucketAt, chatsAddress, type Range, RangePicker, readRange, undatedText } from './range.tsx'
import { Breakdown, type Column } from './table.tsx'
import '../styles/report.css'

/** By one thing at a time. */
type TokensQuery = Omit<QueryOf<'/api/tokens'>, 'groupBy'> & {
  readonly groupBy: [NonNullable<QueryOf<'/api/tokens'>['groupBy']>[number]]
}

export default function TokensScreen() {
  useTitle('Usage')
  const { url } = useLocation()
  const { from, to, bucket } = readRange(url)
  const tz = Intl.DateTimeFormat().resolvedOptions().timeZone
  const by = (groupBy: TokensQuery['groupBy'][0]): TokensQuery => ({ from, to, tz, groupBy: [groupBy] })
  const tokens = useData('/api/tokens', { query: by(bucket) })
  const models = useData('/api/tokens', { query: by('model') })
  const projects = useData('/api/tokens', { query: by('project') })
  return (
    <main id="main" class="column">
      <h1>Usage</h1>
      <p class="lead">
        Each source of numbers stands by itself. They measure different things and are never added together.
      </p>
      <RangePicker range={{ from, to, bucket }} url={url} />
      <Shown of={tokens} what="tokens">
        {(answer) => <Report answer={answer} bucket={bucket} url={url} query={by(bucket)} />}
      </Shown>
      {models.data !== null && <Table title="Models" name="Model" answer={models.data} query={by('model')} />}
      {projects.data !== null && <Table title="Projects" name="Project" answer={projects.data} query={by('project')} />}
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

interface ReportProps {
  readonly answer: TokensAnswer
  readonly bucket: Range['bucket']
  readonly url: string
  readonly query: TokensQuery
}

function Report({ answer, bucket, url, query }: ReportProps) {
  const { from, to } = readRange(url)
  const { totals, coverage, undated } = answer
  const without = answer.rows.find(({ key }) => key === null)
  if (coverage.messages === 0 && answer.rows.length === 0) return <Notice title="No tokens in this time" />
  const byDate = new Map(answer.rows.flatMap((row) => (row.key === null ? [] : [[row.key, row] as const])))
  const dates = datesOf([...byDate.keys()].toSorted(), bucket)
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
      <Coverage coverage={coverage} />
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
          linkOf={(date) => chatsAddress({ from, to, bucket }, bucketAt(date, bucket))}
        />
        <Table
          title={`By ${bucket}`}
          name={bucket}
          answer={{ ...answer, rows: newestFirst(answer.rows) }}
          query={query}
        />
      </section>
    </>
  )
}

const Coverage = ({ coverage: { messages, recorded, estimated, unknown } }: { coverage: TokensAnswer['coverage'] }) => (
  <p class="soft">
    Of {plural(messages, 'message')}, {count(recorded)} have recorded tokens, {count(estimated)} are estimated from
    their text, {count(unknown)} are unknown.
  </p>
)

/** Rows without a time are last. */
const newestFirst = (rows: readonly TokensRow[]): TokensRow[] =>
  rows.toSorted((left, right) => ((left.key ?? '') < (right.key ?? '') ? 1 : -1))

interface TableProps {
  readonly title: string
  readonly name: string
  readonly answer: TokensAnswer
  readonly query: TokensQuery
}

function Table({ title, name, answer, query }: TableProps) {
  const imported: readonly Column<TokensRow>[] =
    answer.imports === null ? [] : [{ name: 'Imported', value: (row) => row.imported?.total ?? null }]
  return (
    <Breakdown
      title={title}
      caption={`Tokens: ${title}`}
      columns={[
        { name, value: ({ label }) => label.replace(/^week of /, ''), link: ({ key }) => addressOf(query, key) },
        ...sources,
        ...imported,
        money('Recorded cost', ({ recordedCents }) => recordedCents),
        money('At list price', ({ priced }) => priced?.cents ?? null),
      ]}
      rows={answer.rows}
      note={answer.omitted?.note}
    />
  )
}

/** The chats behind a row. Messages without a time, model or project have none. */
function addressOf({ groupBy, from = null, to = null }: TokensQuery, key: string | null): string | null {
  const [by] = groupBy
  if (key === null) return null
  const isTime = by === 'day' || by === 'week' || by === 'month'
  return chatsAddress({ from, to, bucket: 'day' }, isTime ? bucketAt(key, by) : { [by]: key })
}

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
