import { useRef } from 'preact/hooks'
import { count, duration, plural } from '../lib/format.ts'
import { connection, status } from '../lib/live.ts'
import { Bar } from '../lib/parts.tsx'

/** One line, only when there is something to say: indexing, degraded, or no daemon. */
export function StateLine() {
  const text = stateOf(useRef({ stage: '', leftMs: Infinity }).current)
  return (
    <div class="state" role="status">
      {text}
    </div>
  )
}

/** @param least the shortest time that was said to be left: it does not climb */
function stateOf(least: { stage: string; leftMs: number }) {
  const now = status.value
  if (connection.value === 'gone') {
    return (
      <p class="state-line warn">
        <strong>The daemon does not answer.</strong> This page reconnects by itself.
      </p>
    )
  }
  if (now === null || now.state === 'ready') return null
  if (now.state === 'degraded') {
    return (
      <p class="state-line warn">
        <strong>Degraded.</strong> {now.reasons.join(' ')} <a href="/settings">Settings</a>
      </p>
    )
  }
  const { progress } = now
  if (progress === null) {
    // A pass over a few new messages needs no line, which would move the page.
    return now.counts.messages > 0 ? null : <p class="state-line">Starting: Cursor's chats are about to be read.</p>
  }
  const what = progress.stage === 'reading' ? 'Reading Cursor' : 'Indexing'
  if (least.stage !== progress.stage) Object.assign(least, { stage: progress.stage, leftMs: Infinity })
  least.leftMs = Math.min(least.leftMs, progress.etaMs ?? Infinity)
  const left = least.leftMs === Infinity ? '' : `, about ${duration(least.leftMs)} left`
  return (
    <p class="state-line">
      <span>
        <strong>{what}:</strong> {count(progress.done)} of {plural(progress.total, 'row')}
        {left}. Chats that are not read yet are missing here.
      </span>
      <Bar done={progress.done} total={progress.total} label={what} />
    </p>
  )
}
