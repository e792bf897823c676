import { setPriority } from 'node:os'
import { setImmediate as turn } from 'node:timers/promises'
import { openReader, type Mirror } from '../mirror/open.ts'
import type { JobOrder, JobReply } from './executor/job-process.ts'
import { failureOf } from './failure.ts'
import { runJob, type JobContext } from './jobs/jobs.ts'

/**
 * A process that runs jobs. SQLite in JavaScript cannot be interrupted, and a thread cannot be ended during a query. A
 * process can be killed, and its memory returns to the system when it ends.
 */
const [kind, mirrorPath, priority] = process.argv.slice(2)
if (mirrorPath === undefined) throw new Error('this file runs as a child of the daemon')
setPriority(Number(priority))
process.umask(0o077)
process.on('disconnect', die)
let mirror: Mirror | null = null
/** A search reads rows from all over the tables. Those of 37,000 messages take 14 MB. */
const options = kind === 'search' ? { cacheKb: 16_000 } : {}
/** A question for which the process was started comes first. */
const WARM_AFTER_MS = 200
const context: JobContext = {
  mirrorPath,
  mirror: () => (mirror ??= openReader(mirrorPath, options)),
  onProgress: (progress) => void send({ kind: 'progress', progress }),
}
const send = (reply: JobReply): unknown => process.send?.(reply)

process.on('message', (order: JobOrder) => void execute(order))
if (kind === 'search') setTimeout(() => void warm(), WARM_AFTER_MS).unref()

/**
 * The first searches of a process take half as long again. So it tries some of its own before, one a turn: what is asked
 * meanwhile waits for one of them.
 */
async function warm(): Promise<void> {
  try {
    const { warmSearches } = await import('../api/search/search.ts')
    for (const search of warmSearches(context.mirror())) {
      search()
      await turn()
    }
  } catch {
    // The next question fails alike.
  }
}

/**
 * Ends this process as soon as its parent is gone, for whatever reason. By a signal, because the exit of Node 24 can hang
 * for ever: it waits for compiler threads, and these may wait for a garbage collection that never comes. A kill is safe
 * for everything that our processes write.
 */
function die(): void {
  process.kill(process.pid, 'SIGKILL')
}

/** Ends this process when its work is done. */
function leave(): void {
  process.off('disconnect', die)
  process.on('disconnect', () => process.exit(0))
  process.disconnect()
}

async function execute({ name, input }: JobOrder): Promise<void> {
  const reply = await runJob(name, input, context).then(
    (result): JobReply => ({ kind: 'result', result }),
    (error: unknown): JobReply => ({ kind: 'failed', failure: failureOf(error) }),
  )
  if (name === 'search') {
    send(reply)
    return
  }
  mirror?.close()
  process.send?.(reply, leave)
}
