import { useLocation } from 'preact-iso'
import type { TokensAnswer, TokensRow } from '../../api/http/schemas/tokens.ts'
import { download, queryOf } from '../lib/api.ts'
import { cents, count, plural } from '../lib/format.ts'
import { useData, useTitle } from '../lib/hooks.ts'
import { Failure, Loading, Notice } from '../lib/parts.tsx'
import { addressWith } from '../search/asked.ts'
import { Chart } from './chart.tsx'
import { DataTable, Figure } from './figure.tsx'
import { dayAt, RangePicker, readRange } from './range.tsx'
import '../styles/report.css'

export default function TokensScreen() {
  useTitle('Tokens')
  const { url } = useLocation()
  const { from, to, bucket } = readRange(url)
  const tz = Intl.DateTimeFormat().resolvedOptions().timeZone
  const params = { from, to, tz }
  const path = `/api/tokens${queryOf({ ...params, groupBy: bucket })}`
  const tokens = useData<TokensAnswer>(path)
  const models = useData<TokensAnswer>(`/api/tokens${queryOf({ ...params, groupBy: 'model', limit: 30 })}`)
  const projects = useData<TokensAnswer>(`/api/tokens${queryOf({ ...params, groupBy: 'project', limit: 30 })}`)
  return (
    <main id="main" class="column">
      <div class="head">
        <h1>Tokens</h1>
        <button type="button" onClick={() => void download(`${path}&as=csv`, 'tokens.csv')}>
          Download CSV
        </button>
      </div>
      <p class="lead">
        Each source of numbers stands by itself. They measure different things and are never added together.
      </p>
      <RangePicker range={{ from, to, bucket }} url={url} />
      {tokens.data === null && tokens.error === null && <Loading what="tokens" />}
      {tokens.error !== null && <Failure error={tokens.error} retry={tokens.reload} />}
      {tokens.data !== null && <Report answer={tokens.data} bucket={bucket} url={url} />}
      <div class="columns">
        {models.data !== null && <Table title="Models" name="Model" rows={models.data.rows} />}
        {projects.data !== null && <Table title="Projects" name="Project" rows={projects.data.rows} />}
      </div>
      {tokens.data !== null && <Notes answer={tokens.data} />}
    </main>
  )
}

/** Null if neither is known. */
const both = (sum: { readonly input: number | null; readonly output: number | null } | null): number | null =>
  sum === null || (sum.input === null && sum.output === null) ? null : (sum.input ?? 0) + (sum.output ?? 0)

function Report({ answer, bucket, url }: { answer: TokensAnswer; bucket: string; url: string }) {
  const { route } = useLocation()
  const { totals, coverage } = answer
  if (coverage.messages === 0 && answer.rows.length === 0) return <Notice title="No tokens in this time" />
  const dated = answer.rows
    .filter(({ key }) => key !== null)
    .toSorted((left, right) => (String(left.key) < String(right.key) ? -1 : 1))
  const onRange = (from: number, to: number): void =>
    route(addressWith(url, { from: dayAt(from), to: dayAt(to + 86_400) }))
  return (
    <>
      <dl class="figures large">
        <Figure name="Recorded, in" value={count(totals.recorded?.input)} />
        <Figure name="Recorded, out" value={count(totals.recorded?.output)} />
        <Figure name="Estimated" value={count(both(totals.estimated))} />
        <Figure name="Imported" value={totals.imported === null ? 'no file' : count(totals.imported.total)} />
        <Figure name="Recorded cost" value={cents(totals.recordedCents)} />
        <Figure name="List price" value={cents(totals.priced?.cents)} />
      </dl>
      <Coverage coverage={coverage} />
      <section>
        <Chart
          title={`Recorded and estimated by ${bucket}`}
          dates={dated.map(({ key }) => String(key))}
          lines={[
            { name: 'Recorded', values: dated.map(({ recorded }) => both(recorded)), colour: 'chart-1' },
            { name: 'Estimated', values: dated.map(({ estimated }) => both(estimated)), colour: 'chart-2' },
          ]}
          onRange={onRange}
        />
        <Table
          title={`By ${bucket}`}
          name={bucket}
          rows={answer.rows.toSorted((left, right) => (String(left.key) < String(right.key) ? 1 : -1))}
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

function Table({ title, name, rows }: { title: string; name: string; rows: readonly TokensRow[] }) {
  return (
    <section>
      <h2 class="section-title">{title}</h2>
      <DataTable
        caption={`Tokens: ${title}`}
        head={[name, 'Recorded in', 'Recorded out', 'Estimated', 'Cost']}
        rows={rows
          .slice(0, 60)
          .map((row) => [
            row.label,
            known(row.recorded?.input),
            known(row.recorded?.output),
            known(both(row.estimated)),
            row.recordedCents === null ? unknown : cents(row.recordedCents),
          ])}
      />
    </section>
  )
}

const unknown = <span class="soft">unknown</span>
const known = (value: number | null | undefined) => (value === null || value === undefined ? unknown : count(value))

const Notes = ({ answer }: { answer: TokensAnswer }) => (
  <details class="numbers">
    <summary>What these numbers are</summary>
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
