import { useState } from 'preact/hooks'
import type { ArchiveRun, ArchiveVerdict } from '../../api/http/schemas/archives.ts'
import type { Page } from '../../api/http/schemas/common.ts'
import { getList, messageOf, post } from '../lib/api.ts'
import { bytes, count, moment, plural } from '../lib/format.ts'
import { useData, useLive, useTitle } from '../lib/hooks.ts'
import { status } from '../lib/live.ts'
import { Bar, Failure, Loading, Notice, When } from '../lib/parts.tsx'
import { Figure } from './figure.tsx'
import { More } from './table.tsx'
import '../styles/report.css'

const FIRST = 50

export default function ArchivesScreen() {
  useTitle('Archives')
  const [limit, setLimit] = useState(FIRST)
  const runs = useData(`/api/archives?limit=${limit}`, getList<Page<ArchiveRun>>)
  useLive(['archive'], runs.reload, 250)
  const [failure, setFailure] = useState<string | null>(null)
  const start = async (): Promise<void> => {
    setFailure(null)
    try {
      await post('/api/archives')
      runs.reload()
    } catch (error) {
      setFailure(messageOf(error))
    }
  }
  const health = status.value?.archives
  return (
    <main id="main" class="column">
      <div class="head">
        <h1>Archives</h1>
        <button type="button" class="primary" onClick={() => void start()}>
          Archive everything now
        </button>
      </div>
      <p class="lead">
        Copies outside the database, each checked after it is written. Restoring and purging are done in the terminal:{' '}
        <code>cursordex archive restore</code>.{' '}
        {health !== undefined && health.nextRunAt !== null && <>The next run is on {moment(health.nextRunAt)}.</>}
      </p>
      {failure !== null && (
        <p class="error-part" role="alert">
          {failure}
        </p>
      )}
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
          <RunCard key={run.name} run={run} reload={runs.reload} />
        ))}
      </ul>
      {runs.data !== null && <More shown={runs.data.items.length} total={runs.data.total} show={setLimit} />}
    </main>
  )
}

function RunCard({ run, reload }: { run: ArchiveRun; reload: () => void }) {
  const [verdict, setVerdict] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const verify = async (): Promise<void> => {
    setBusy(true)
    setVerdict(null)
    try {
      const found = await post<ArchiveVerdict>(`/api/archives/${encodeURIComponent(run.name)}/verify`)
      setVerdict(
        found.ok
          ? `Proven: ${plural(found.checked, 'file')} read back and equal.`
          : `Damaged: ${plural(found.damaged.length, 'chat')} cannot be read. Run cursordex archive verify for the list.`,
      )
      reload()
    } catch (error) {
      setVerdict(messageOf(error))
    } finally {
      setBusy(false)
    }
  }
  return (
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
      {run.progress !== null && (
        <Bar done={run.progress.done} total={run.progress.total} label={`Progress of ${run.name}`} />
      )}
      {run.error !== null && <p class="error-part">{run.error}</p>}
      {run.leftOut.length > 0 && (
        <p class="warn">{plural(run.leftOut.length, 'chat')} could not be archived as it was.</p>
      )}
      {run.state !== 'running' && (
        <p>
          <button type="button" disabled={isBusy} onClick={() => void verify()} aria-label={`Verify ${run.name}`}>
            {isBusy ? 'Reading every byte…' : 'Verify'}
          </button>
        </p>
      )}
      <p role="status">{verdict}</p>
    </li>
  )
}
