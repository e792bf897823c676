import { useLocation } from 'preact-iso'
import { useState } from 'preact/hooks'
import type { ArchiveRestored, ArchiveRun } from '../../api/answers/archives.ts'
import type { ListedLoss } from '../../api/answers/chats.ts'
import { verifyArchives } from '../lib/acts.ts'
import { api, getList, messageOf } from '../lib/api.ts'
import { bytes, chatAddress, count, moment, plural, titleOf, visible } from '../lib/format.ts'
import { useData, useList, useLive, useTitle } from '../lib/hooks.ts'
import { projects, status } from '../lib/live.ts'
import { Figure, More, Notice, Shown, When } from '../lib/parts.tsx'
import { addressWith } from '../search/asked.ts'
import { type Column, CsvButton, DataTable, projectColumn, timeColumn } from './table.tsx'
import '../styles/report.css'

/** What Cursor deleted, the copies outside the database, and what is shared with other machines. */
export default function SafetyScreen() {
  useTitle('Safety')
  return (
    <main id="main" class="column">
      <h1>Safety</h1>
      <Losses />
      <Archives />
      <Hub />
    </main>
  )
}

const FIRST = 20

function Losses() {
  const { url, route } = useLocation()
  const project = new URL(url, location.origin).searchParams.get('project')
  const query = { project: project === null ? null : [project] }
  const [limit, setLimit] = useState(FIRST)
  const losses = useList('/api/losses', limit, { query })
  useLive('loss', losses.reload)
  const all = async (): Promise<readonly ListedLoss[]> =>
    (await getList('/api/losses', Number.MAX_SAFE_INTEGER, { query })).items
  return (
    <section id="losses">
      <div class="head">
        <h2>{plural(losses.data?.total ?? 0, 'loss', 'losses')}, the latest first</h2>
        <select
          aria-label="Project of the losses"
          onChange={(event) => route(addressWith(url, { project: event.currentTarget.value }))}
        >
          <option value="">All projects</option>
          {projects.value.map(({ id, name }) => (
            <option key={id} value={id} selected={id === project}>
              {visible(name)}
            </option>
          ))}
        </select>
        <CsvButton title="Losses" columns={[...lossColumns, ...idColumns]} rows={all} />
      </div>
      <p class="lead">
        What Cursor deleted and cursordex kept. Each line opens the copy. A chat that was deleted whole is one line.
      </p>
      <Shown of={losses} what="losses">
        {({ items, total }) =>
          total === 0 ? (
            <Notice title="Nothing was lost">
              <p>Since cursordex began to watch, Cursor deleted nothing{project !== null && ' of this project'}.</p>
            </Notice>
          ) : (
            <>
              <DataTable caption="Losses" columns={lossColumns} rows={items} />
              <More shown={items.length} total={total} show={setLimit} />
            </>
          )
        }
      </Shown>
    </section>
  )
}

const lossColumns: readonly Column<ListedLoss>[] = [
  {
    name: 'Chat',
    value: ({ title }) => title,
    show: ({ title }) => titleOf(title),
    link: ({ chatId, messageId }) => chatAddress(chatId, '', messageId),
  },
  {
    name: 'Its words',
    value: ({ kind, text }) => text ?? (kind === 'chat' ? 'The whole chat' : 'No words'),
    className: 'text words',
  },
  {
    name: 'Lost',
    value: ({ kind }) => kind,
    show: ({ kind }) => <span class="tag kept">{kind}</span>,
    className: 'nowrap',
  },
  projectColumn(),
  timeColumn('Noticed', ({ at }) => at),
]

const idColumns: readonly Column<ListedLoss>[] = [
  { name: 'Chat id', value: ({ chatId }) => chatId },
  { name: 'Message id', value: ({ messageId }) => messageId },
]

function Archives() {
  const [limit, setLimit] = useState(FIRST)
  const runs = useList('/api/archives', limit)
  useLive('archive', runs.reload, 250)
  const [note, setNote] = useState<string | null>(null)
  const act = async (begun: string, work: () => Promise<string>): Promise<void> => {
    setNote(begun)
    setNote(await work().catch(messageOf))
    runs.reload()
  }
  const health = status.value?.archives
  return (
    <section id="archives">
      <div class="head">
        <h2>Archives</h2>
        <button type="button" onClick={() => void act('Reading every byte…', verifyArchives)}>
          Verify
        </button>
        <button type="button" class="primary" onClick={() => void act('Archiving…', start)}>
          Archive everything now
        </button>
      </div>
      <p class="lead">
        Copies outside the database, each checked after it is written.{' '}
        {health !== undefined && health.nextRunAt !== null && <>The next run is on {moment(health.nextRunAt)}. </>}
        What is purged is removed from them too; purging is done in the terminal: <code>cursordex purge</code>.
      </p>
      <p role="status">{note}</p>
      {health?.failed.map(({ job, error }) => (
        <p key={job} class="error-part">
          The job <b>{job}</b> failed: {error}
        </p>
      ))}
      <Shown of={runs} what="archives">
        {({ items, total }) => (
          <>
            {total === 0 && (
              <Notice title="No archive yet">
                <p>Archives are made every week by default, or now with the button above.</p>
              </Notice>
            )}
            <ul class="cards">
              {items.map((run) => (
                <RunCard key={run.name} run={run} act={act} />
              ))}
            </ul>
            <More shown={items.length} total={total} show={setLimit} />
          </>
        )}
      </Shown>
    </section>
  )
}

const start = async (): Promise<string> => `${(await api.post('/api/archives', { body: {} })).name} is being made.`

interface CardProps {
  readonly run: ArchiveRun
  readonly act: (begun: string, work: () => Promise<string>) => Promise<void>
}

function RunCard({ run, act }: CardProps) {
  const [preview, setPreview] = useState<ArchiveRestored | null>(null)
  const [isOpen, setOpen] = useState(false)
  const restore = (dryRun: boolean): Promise<ArchiveRestored> =>
    api.post('/api/archives/:name/restore', { id: run.name, body: { dryRun } })
  const look = async (): Promise<string> => {
    setPreview(await restore(true))
    return ''
  }
  const bringBack = async (): Promise<string> => {
    const { added, addedChats, damaged } = await restore(false)
    setPreview(null)
    return `Restored: ${plural(added, 'message')} and ${plural(addedChats, 'chat')} came back${damagedText(damaged.length)}.`
  }
  return (
    <li class="card">
      <div class="head">
        <h3>{run.name}</h3>
        <span class={`tag ${run.state}`}>{run.state}</span>
      </div>
      <dl class="figures">
        <Figure name="Made" value={<When at={run.createdAt} />} />
        <Figure name="Last proven" value={run.provenAt === null ? 'never' : <When at={run.provenAt} />} />
        <Figure name="Chats" value={count(run.chats)} />
        <Figure name="Messages" value={count(run.messages)} />
        <Figure name="Size" value={bytes(run.bytes)} />
      </dl>
      {run.error !== null && <p class="error-part">{run.error}</p>}
      {run.leftOut.length > 0 && (
        <p class="warn">{plural(run.leftOut.length, 'chat')} could not be archived as it was.</p>
      )}
      {run.state !== 'running' && (
        <>
          <button type="button" onClick={() => void act('Comparing with what is here…', look)}>
            Restore…
          </button>
          {preview !== null && (
            <div class="explain" role="status">
              <p>
                {preview.added === 0
                  ? 'All of it is here: nothing would be added'
                  : `${plural(preview.added, 'message')} would be added, ${plural(preview.addedChats, 'chat')} of them new`}
                {damagedText(preview.damaged.length)}. Nothing here is replaced.
              </p>
              {preview.added > 0 && (
                <button type="button" class="primary" onClick={() => void act('Restoring…', bringBack)}>
                  Restore {plural(preview.added, 'message')}
                </button>
              )}
            </div>
          )}
          <details class="numbers" onToggle={(event) => setOpen(event.currentTarget.open)}>
            <summary class="soft">Its chats</summary>
            {isOpen && <Contents name={run.name} />}
          </details>
        </>
      )}
    </li>
  )
}

const damagedText = (damaged: number): string => (damaged === 0 ? '' : `; ${plural(damaged, 'chat')} cannot be read`)

/** What an archive holds, and whether it is here too. */
function Contents({ name }: { name: string }) {
  const [q, setQ] = useState('')
  const [limit, setLimit] = useState(FIRST)
  const chats = useList('/api/archives/:name/chats', limit, { id: name, query: { q } })
  return (
    <>
      <input
        type="search"
        aria-label={`Find a chat in ${name}`}
        placeholder="Words of a title"
        onInput={(event) => setQ(event.currentTarget.value)}
      />
      <Shown of={chats} what="its chats">
        {({ items, total }) => (
          <>
            <ul class="lines">
              {items.map(({ id, title, messages, isHere }) => (
                <li key={id}>
                  {isHere ? <a href={chatAddress(id)}>{titleOf(title ?? id)}</a> : titleOf(title ?? `Damaged: ${id}`)}
                  <span class="soft nowrap">
                    {plural(messages, 'message')} {!isHere && <span class="tag kept">only in the archive</span>}
                  </span>
                </li>
              ))}
            </ul>
            <More shown={items.length} total={total} show={setLimit} />
          </>
        )}
      </Shown>
    </>
  )
}

function Hub() {
  const { data, error } = useData('/api/hub')
  return (
    <section id="hub">
      <h2>Hub</h2>
      {error !== null && <p class="soft">{messageOf(error)}</p>}
      {data?.url === null && (
        <p class="soft">
          No hub is set: no chat leaves this machine. A hub shares chats with other machines or a team.
        </p>
      )}
      {data !== null && data.url !== null && (
        <>
          <p class="lead">
            <code>{data.url}</code>, as {visible(data.machine)}. Last push <When at={data.lastPushAt} />, last pull{' '}
            <When at={data.lastPullAt} />.
          </p>
          {data.error !== null && <p class="error-part">{data.error.detail}</p>}
          {data.purgesWaiting > 0 && (
            <p class="warn">{plural(data.purgesWaiting, 'purge')} will be told to the hub when it answers.</p>
          )}
          <ul class="lines">
            {data.hub?.machines.map(({ uuid, name, user, chats, bytes: size, pushedAt }) => (
              <li key={uuid}>
                <span>
                  {visible(name)} <span class="soft">of {visible(user)}</span>
                </span>
                <span class="soft nowrap">
                  {plural(chats, 'chat')}, {bytes(size)}, <When at={pushedAt} />
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  )
}
