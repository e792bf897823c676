import type { SourceStatus, Status } from '../../api/answers/status.ts'
import { bytes, count, duration, percent } from '../lib/format.ts'
import { useTitle } from '../lib/hooks.ts'
import { connection, status } from '../lib/live.ts'
import { Bar, Loading, When } from '../lib/parts.tsx'
import { Figure } from './figure.tsx'
import { type Column, CsvButton } from './table.tsx'
import '../styles/report.css'

const STATES: Readonly<Record<string, string>> = {
  starting: 'Starting',
  indexing: 'Reading chats; they are not all searchable yet',
  ready: 'Everything is read and searchable',
  degraded: 'Running, but something needs attention',
}
const PARTLY_READ = 'What could be read is searchable; below is what could not'

/** False if a row or a whole store was not read. A store that is missing has nothing to read. */
const isAllRead = ({ issues, sources }: Status): boolean =>
  Object.keys(issues).length === 0 && sources.every(({ state }) => state === 'ok' || state === 'missing')

/** Reasons as they are recorded, and what a person can do. */
const ISSUES: Readonly<Record<string, string>> = {
  'null-value': 'The file has no content yet. What was read from it before is kept.',
  'bad-json': 'Cursor left the row incomplete. It is read again when Cursor rewrites it.',
  'null-key': 'Cursor stored a row without a key. It belongs to no chat.',
  'too-large': 'The row is above the size limit. Its chat is shown without it.',
  'unknown-shape': 'The format is newer than this version. An update of cursordex may read it.',
}

export default function StatusScreen() {
  useTitle('Status')
  const now = status.value
  return (
    <main id="main" class="column">
      <h1>Status</h1>
      {now === null ? (
        connection.value === 'gone' ? (
          <p>The daemon does not answer.</p>
        ) : (
          <Loading what="the status" />
        )
      ) : (
        <Report now={now} />
      )}
    </main>
  )
}

function Report({ now }: { now: Status }) {
  const { counts, losses, coverage, resources } = now
  return (
    <>
      <p class="lead">
        <span class={`tag ${now.state === 'ready' ? 'ok' : 'busy'}`}>{now.state}</span>{' '}
        {now.state === 'ready' && !isAllRead(now) ? PARTLY_READ : STATES[now.state]}.
      </p>
      {now.reasons.map((reason) => (
        <p key={reason} class="explain">
          {reason}
        </p>
      ))}
      {now.progress !== null && (
        <div class="progress-box">
          <Bar done={now.progress.done} total={now.progress.total} label="Progress" />
          <p class="soft">
            {count(now.progress.done)} of {count(now.progress.total)} rows, {now.progress.stage}
            {now.progress.bytesPerSecond !== null && `, ${bytes(now.progress.bytesPerSecond)} a second`}
            {now.progress.etaMs !== null && `, about ${duration(now.progress.etaMs)} left`}
          </p>
        </div>
      )}
      <dl class="figures large">
        <Figure name="Projects" value={count(counts.projects)} />
        <Figure name="Chats" value={count(counts.chats)} />
        {counts.subagents > 0 && <Figure name="Subagents" value={count(counts.subagents)} />}
        <Figure name="Messages" value={count(counts.messages)} />
        <Figure name="Losses" value={<a href="/losses">{count(losses.chats + losses.messages)}</a>} />
        <Figure
          name="Delay to searchable"
          value={now.lagMs === null ? 'no change yet' : `${count(Math.round(now.lagMs))} ms`}
        />
      </dl>
      <Issues now={now} />
      <Sources sources={now.sources} />
      <h2 class="section-title">Cost</h2>
      <dl class="figures">
        <Figure name="Memory" value={bytes(resources.rssBytes)} />
        <Figure name="Processor" value={`${resources.cpuPercent.toFixed(1)}%`} />
        <Figure name="Database" value={bytes(now.mirror.bytes)} />
        <Figure
          name="Rows read"
          value={coverage.rows === 0 ? '0' : percent((coverage.read + coverage.noise) / coverage.rows)}
        />
        <Figure name="Running for" value={duration(now.uptimeMs)} />
        <Figure name="Version" value={now.version} />
      </dl>
      <p class="soft break">
        Database: <code>{now.mirror.path}</code>
      </p>
    </>
  )
}

function Issues({ now }: { now: Status }) {
  const all = Object.entries(now.issues)
  return (
    <section>
      <h2 class="section-title">Could not be read</h2>
      {all.length === 0 ? (
        <p class="soft">{isAllRead(now) ? 'Nothing: every row was read.' : 'Some of the sources below.'}</p>
      ) : (
        <dl class="facts-wide">
          {all.map(([reason, found]) => (
            <div key={reason}>
              <dt>
                {count(found)} · {reason.replaceAll('-', ' ')}
              </dt>
              <dd class="soft">
                {ISSUES[reason] ?? 'Run cursordex doctor in the terminal for the rows and what helps.'}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  )
}

const isPlain = (source: SourceStatus): boolean => source.kind === 'workspace-items' && source.state === 'ok'

const sourceColumns: readonly Column<SourceStatus>[] = [
  { name: 'Kind', value: ({ kind }) => kind },
  { name: 'State', value: ({ state }) => state },
  { name: 'Place', value: ({ path }) => path },
  { name: 'Rows', value: ({ rows }) => rows },
  { name: 'Last read', value: ({ lastSyncAt }) => lastSyncAt },
  { name: 'Detail', value: ({ detail }) => detail },
]

/** Workspaces are many and alike: those that are well are one line. */
function Sources({ sources }: { sources: readonly SourceStatus[] }) {
  const plain = sources.filter(isPlain)
  return (
    <section>
      <div class="head">
        <h2 class="section-title">Sources</h2>
        {sources.length > 0 && <CsvButton title="Sources" columns={sourceColumns} rows={sources} />}
      </div>
      {sources.length === 0 && <p class="soft">No storage of Cursor was found yet. cursordex keeps looking.</p>}
      {sources.length > 0 && (
        <div class="table-box" tabIndex={0} role="region" aria-label="Sources">
          <table>
            <thead>
              <tr>
                <th scope="col">Kind</th>
                <th scope="col">State</th>
                <th scope="col">Place</th>
                <th scope="col" class="number">
                  Rows
                </th>
                <th scope="col">Last read</th>
              </tr>
            </thead>
            <tbody>
              {sources
                .filter((source) => !isPlain(source))
                .map((source) => (
                  <SourceRow key={source.id} source={source} />
                ))}
              {plain.length > 0 && (
                <tr>
                  <td>workspaces</td>
                  <td>
                    <span class="tag ok">ok</span>
                  </td>
                  <td class="soft">{count(plain.length)} workspaces</td>
                  <td class="number">{count(plain.reduce((sum, { rows }) => sum + rows, 0))}</td>
                  <td />
                </tr>
              )}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

const SourceRow = ({ source }: { source: SourceStatus }) => (
  <tr>
    <td class="nowrap">{source.kind.replaceAll('-', ' ')}</td>
    <td>
      <span class={`tag ${source.state === 'ok' ? 'ok' : source.state === 'missing' ? '' : 'busy'}`}>
        {source.state}
      </span>
    </td>
    <td class="place">
      {source.path}
      {source.detail !== null && <div class="warn">{source.detail}</div>}
    </td>
    <td class="number">{count(source.rows)}</td>
    <td class="nowrap">
      <When at={source.lastSyncAt} />
    </td>
  </tr>
)
