import { useState } from 'preact/hooks'
import type { ArchiveRun } from '../../api/answers/archives.ts'
import { api, messageOf } from '../lib/api.ts'
import { bytes, count, moment, plural } from '../lib/format.ts'
import { useList, useLive, useTitle } from '../lib/hooks.ts'
import { status } from '../lib/live.ts'
import { Failure, Loading, Notice, When } from '../lib/parts.tsx'
import { Figure } from './figure.tsx'
import { More } from './table.tsx'
import '../styles/report.css'

const FIRST = 50

export default function ArchivesScreen() {
  useTitle('Archives')
  const [limit, setLimit] = useState(FIRST)
  const runs = useList('/api/archives', limit)
  useLive(['archive'], runs.reload, 250)
  const [note, setNote] = useState<string | null>(null)
  const act = async (work: () => Promise<string>): Promise<void> => {
    setNote(await work().catch(messageOf))
    runs.reload()
  }
  const verify = async (): Promise<string> => {
    setNote('Reading every byte…')
    const { ok, checked, damaged } = await api.post('/api/archives/:name/verify', { id: 'newest' })
    if (ok) return `Proven: ${plural(checked, 'file')} read back and equal.`
    return `Damaged: ${plural(damaged.length, 'chat')} cannot be read. Run cursordex archive verify for the list.`
  }
  const health = status.value?.archives
  return (
    <main id="main" class="column">
      <div class="head">
        <h1>Archives</h1>
        <button type="button" onClick={() => void act(verify)}>
          Verify
        </button>
        <button type="button" class="primary" onClick={() => void act(start)}>
          Archive everything now
        </button>
      </div>
      <p class="lead">
        Copies outside the database, each checked after it is written. Restoring and purging are done in the terminal:{' '}
        <code>cursordex archive restore</code>.{' '}
        {health !== undefined && health.nextRunAt !== null && <>The next run is on {moment(health.nextRunAt)}.</>}
      </p>
      <p role="status">{note}</p>
      {health?.failed.map(({ job, error }) => (
        <p key={job} class="error-part">
          The job <b>{job}</b> failed: {error}
        </p>
      ))}
      {runs.data === null && runs.error === null && <Loading what="archives" />}
      {runs.error !== null && <Failure error={runs.error} retry={runs.reload} />}
      {runs.data?.items.length === 0 && (
        <Notice title="No archive yet">
          <p>Archives are made every week by default, or now with the button above.</p>
        </Notice>
      )}
      <ul class="cards">
        {runs.data?.items.map((run) => (
          <RunCard key={run.name} run={run} />
        ))}
      </ul>
      {runs.data !== null && <More shown={runs.data.items.length} total={runs.data.total} show={setLimit} />}
    </main>
  )
}

const start = async (): Promise<string> => `${(await api.post('/api/archives', { body: {} })).name} is being made.`

const RunCard = ({ run }: { run: ArchiveRun }) => (
  <li class="card">
    <div class="head">
      <h2>{run.name}</h2>
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
  </li>
)
