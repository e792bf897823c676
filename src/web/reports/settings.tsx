import type { Signal } from '@preact/signals'
import type { SourceStatus, Status } from '../../api/answers/status.ts'
import { bytes, count, duration, moment, plural, visible } from '../lib/format.ts'
import { useTitle } from '../lib/hooks.ts'
import { connection, status } from '../lib/live.ts'
import { Figure, Loading } from '../lib/parts.tsx'
import { density, DENSITIES, theme, THEMES } from '../lib/preferences.ts'
import { type Column, CsvButton, DataTable, timeColumn } from './table.tsx'
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

/** How the page looks, and how the daemon is: what is read and left out, what it costs. */
export default function SettingsScreen() {
  useTitle('Settings')
  const now = status.value
  return (
    <main id="main" class="column">
      <h1>Settings</h1>
      <div class="range">
        <Choices name="Theme" values={THEMES} of={theme} />
        <Choices name="Density" values={DENSITIES} of={density} />
      </div>
      {now !== null && <Report now={now} />}
      {now === null && connection.value === 'gone' && <p>The daemon does not answer.</p>}
      {now === null && connection.value !== 'gone' && <Loading what="the status" />}
    </main>
  )
}

interface ChoicesProps<Value extends string> {
  readonly name: string
  readonly values: readonly Value[]
  readonly of: Signal<Value>
}

const Choices = <Value extends string>({ name, values, of }: ChoicesProps<Value>) => (
  <div class="segments" role="group" aria-label={name}>
    {values.map((value) => (
      <button key={value} type="button" aria-pressed={value === of.value} onClick={() => (of.value = value)}>
        {value}
      </button>
    ))}
  </div>
)

function Report({ now }: { now: Status }) {
  const { counts, losses } = now
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
      <dl class="figures large">
        <Figure name="Projects" value={<a href="/projects">{count(counts.projects)}</a>} />
        <Figure name="Chats" value={<a href="/">{count(counts.chats)}</a>} />
        {counts.subagents > 0 && <Figure name="Subagents" value={count(counts.subagents)} />}
        <Figure name="Messages" value={count(counts.messages)} />
        <Figure name="Losses" value={<a href="/losses">{count(losses.chats + losses.messages)}</a>} />
        <Figure
          name="Delay to searchable"
          value={now.lagMs === null ? 'no change yet' : `${count(Math.round(now.lagMs))} ms`}
        />
      </dl>
      <Sources now={now} />
      <Issues now={now} />
      <h2>Schedules, and what is shared</h2>
      <p class="soft">
        {now.archives.nextRunAt === null
          ? 'No archive is scheduled. '
          : `The next archive is made on ${moment(now.archives.nextRunAt)}. `}
        Nothing leaves this machine but what a <a href="/losses#hub">hub</a> was told to share. These settings stand in
        the file <code>config.json</code>.
      </p>
      <h2>About</h2>
      <dl class="figures">
        <Figure name="Version" value={now.version} />
        <Figure name="Running for" value={duration(now.uptimeMs)} />
        <Figure name="Memory" value={bytes(now.resources.rssBytes)} />
      </dl>
      <p class="soft">
        Database: <code>{now.mirror.path}</code>
      </p>
    </>
  )
}

function Issues({ now }: { now: Status }) {
  const all = Object.entries(now.issues)
  return (
    <section>
      <h2>Could not be read</h2>
      {all.length === 0 && (
        <p class="soft">{isAllRead(now) ? 'Nothing: every row was read.' : 'Some of the sources above.'}</p>
      )}
      {all.length > 0 && (
        <p class="soft">
          {all.map(([reason, found]) => `${count(found)} · ${reason.replaceAll('-', ' ')}`).join(', ')}.{' '}
          <code>cursordex doctor</code> lists the rows and says what helps.
        </p>
      )}
    </section>
  )
}

const sourceColumns: readonly Column<SourceStatus>[] = [
  { name: 'Place', value: ({ path }) => path },
  { name: 'Kind', value: ({ kind }) => kind.replaceAll('-', ' '), className: 'nowrap' },
  {
    name: 'State',
    value: ({ state, detail }) => [state, ...(detail === null ? [] : [detail])].join(': '),
    show: ({ state, detail }) => (
      <>
        <span class={`tag ${state === 'ok' ? 'ok' : state === 'missing' ? '' : 'busy'}`}>{state}</span>{' '}
        {visible(detail ?? '')}
      </>
    ),
    className: 'text',
  },
  { name: 'Rows', value: ({ rows }) => rows },
  timeColumn('Last read', ({ lastSyncAt }) => lastSyncAt),
]

/** Workspaces are many and alike: those that are well are counted. */
function Sources({ now: { sources, excluded } }: { now: Status }) {
  const plain = sources.filter(({ kind, state }) => kind === 'workspace-items' && state === 'ok')
  return (
    <section>
      <div class="head">
        <h2>What is read</h2>
        {sources.length > 0 && <CsvButton title="Sources" columns={sourceColumns} rows={sources} />}
      </div>
      {sources.length === 0 && <p class="soft">No storage of Cursor was found yet. cursordex keeps looking.</p>}
      {sources.length > 0 && (
        <DataTable caption="Sources" columns={sourceColumns} rows={sources.filter((each) => !plain.includes(each))} />
      )}
      <p class="soft">
        {plain.length > 0 && `And ${plural(plain.length, 'workspace')}, all of them well. `}
        {excluded.length === 0
          ? 'No project is left out.'
          : `Left out by exclude.projects of the settings: ${visible(excluded.join(', '))}.`}
      </p>
    </section>
  )
}
