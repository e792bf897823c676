import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { parentPort } from 'node:worker_threads'
import { keepCopiesIn, removeCopies } from '../indexer/open-safely/checked-copy.ts'
import { shrinkMemory } from '../mirror/bulk.ts'
import { isDamage } from '../mirror/damage/find-damage.ts'
import { listSalvages } from '../mirror/damage/replace-mirror.ts'
import { UserError } from '../model/user-error.ts'
import { WriterActs } from './writer/acts.ts'
import type {
  FromWorker,
  RunOrder,
  RunOutcome,
  StepNews,
  ToWorker,
  WriterOrder,
  WriterOutcome,
  WriterSetup,
} from './writer/messages.ts'

/**
 * The writer's thread. SQLite calls block, and here they do not block requests. The thread has no timers for work: it works
 * when it gets an order.
 */
const port = parentPort
if (port === null) throw new Error('this file runs as a worker')
// The first message is the setup. Orders follow after `open`.
const [setup] = (await once(port, 'message')) as [WriterSetup]
const send = (message: FromWorker): void => port.postMessage(message)

/** Runs within this time may read the same copy of a file. */
const COPIES_KEPT_MS = 5000
/** A run counts as large from this many bytes on: twice the maximum that a check of today's chats reads. */
const LARGE_RUN_BYTES = 64 * 1024 * 1024

const acts = new WriterActs(setup, Date.now)
let isStopping = false
let copiesTimer: NodeJS.Timeout | undefined
/** True after a large run, until its memory is released. Large runs are rare, and no other follows soon. */
let hasGrown = false

/** Ends an act at its next step. The next start of the daemon continues it. */
class Stopped extends Error {}

/** Returns null if the daemon stopped meanwhile. */
async function drive(order: WriterOrder, onStep: (step: StepNews) => void): Promise<WriterOutcome | null> {
  try {
    return await acts.act(order, async (news) => {
      if (news !== null) onStep(news)
      // A stop order can arrive between two steps.
      await new Promise((resume) => setImmediate(resume))
      if (isStopping) throw new Stopped()
    })
  } catch (error) {
    if (error instanceof Stopped) return null
    throw error
  }
}

async function execute(order: WriterOrder): Promise<void> {
  const outcome = order.kind === 'run' ? await run(order) : await drive(order, (step) => send({ kind: 'step', step }))
  if (outcome !== null) send({ kind: 'done', outcome })
}

const INTERRUPTED: RunOutcome = {
  changed: 0,
  added: 0,
  gone: 0,
  ends: [],
  backlog: 0,
  isWhole: false,
}

async function run(order: RunOrder): Promise<RunOutcome> {
  clearTimeout(copiesTimer)
  try {
    let bytes = 0
    const outcome = (await drive(order, (step) => {
      bytes += step.bytesRead
      if (bytes > LARGE_RUN_BYTES || step.backlog !== null) hasGrown = true
      send({ kind: 'step', step })
      // The outcome has the order's kind.
    })) as RunOutcome | null
    if (outcome?.backlog === 0 && hasGrown) setTimeout(releaseMemory)
    return outcome ?? INTERRUPTED
  } finally {
    copiesTimer = setTimeout(removeCopies, COPIES_KEPT_MS).unref()
  }
}

function releaseMemory(): void {
  if (isStopping) return
  hasGrown = false
  shrinkMemory(acts.db)
}

function sendFailure(error: unknown): void {
  if (isStopping) return
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'fault'
  const message = error instanceof Error ? error.message : String(error)
  if (isDamage(error)) acts.maintenance.noteDamage()
  send({
    kind: 'failed',
    code,
    message,
    hint: error instanceof UserError ? error.hint : null,
    isDamage: isDamage(error),
  })
}

port.on('message', (message: ToWorker) => {
  if (message.kind !== 'stop') {
    execute(message).catch(sendFailure)
    return
  }
  isStopping = true
  clearTimeout(copiesTimer)
  removeCopies()
  acts.close()
  port.close()
})

try {
  keepCopiesIn(join(dirname(setup.mirrorPath), 'copies'))
  const { db, maintenance } = acts
  const notices = listSalvages(db, setup.mirrorPath)
  send({ kind: 'open', news: maintenance.news, notices })
} catch (error) {
  sendFailure(error)
}
