import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { parentPort } from 'node:worker_threads'
import { keepCopiesIn, removeCopies } from '../indexer/open-safely/checked-copy.ts'
import { shrinkMemory } from '../mirror/fulltext/bulk.ts'
import { damageOf } from '../mirror/maintenance/check-pages.ts'
import { UserError } from '../model/user-error.ts'
import { collectGarbage, GIVE_BACK_MS, holdYoungSpace, letYoungSpaceGrow } from './heap-limits.ts'
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
 * The writer's thread. SQLite blocks, and here it blocks nothing that answers. The thread has no timers for work: it
 * works when it gets an order.
 */
const port = parentPort
if (port === null) throw new Error('this file runs as a worker')
// The first message is the setup. Orders follow after `open`.
const [setup] = (await once(port, 'message')) as [WriterSetup]
const tell = (message: FromWorker): void => port.postMessage(message)

/** Runs that follow each other soon may read the same copy of a file. */
const COPIES_KEPT_MS = 5000
/** From here on a run counts as large: twice what a check of today's chats may read. */
const MUCH_OCTETS = 64 * 1024 * 1024

const acts = new WriterActs(setup, Date.now)
let isStopping = false
let copiesTimer: NodeJS.Timeout | undefined
/** True after a large run. Large runs are rare, and nothing follows them for a long time. */
let hasMuchToForget = false

/** Returns null if the daemon stopped meanwhile. What it was at continues at the next start. */
async function drive(order: WriterOrder, onStep: (step: StepNews) => void): Promise<WriterOutcome | null> {
  const steps = acts.act(order, onStep)
  for (;;) {
    const next = await steps.next()
    if (next.done === true) return next.value
    // Lets a stop order in between two steps.
    await new Promise((resume) => setImmediate(resume))
    if (!isStopping) continue
    await steps.return(undefined as never)
    return null
  }
}

async function obey(order: WriterOrder): Promise<void> {
  const outcome = order.kind === 'run' ? await run(order) : await drive(order, (step) => tell({ kind: 'step', step }))
  if (outcome !== null) tell({ kind: 'done', outcome })
}

const CUT_OFF: RunOutcome = { changed: 0, added: 0, gone: 0, ends: [], backlog: 0, needsMerge: false, isWhole: false }

async function run(order: RunOrder): Promise<RunOutcome> {
  clearTimeout(copiesTimer)
  try {
    let octets = 0
    const outcome = (await drive(order, (step) => {
      octets += step.bytesRead
      if (octets > MUCH_OCTETS || step.backlog !== null) growMemory()
      tell({ kind: 'step', step })
      // A run is answered with a run's outcome.
    })) as RunOutcome | null
    if (outcome?.backlog === 0 && !outcome.needsMerge && hasMuchToForget) setTimeout(releaseMemory)
    return outcome ?? CUT_OFF
  } finally {
    copiesTimer = setTimeout(removeCopies, COPIES_KEPT_MS).unref()
  }
}

function growMemory(): void {
  if (!hasMuchToForget) letYoungSpaceGrow()
  hasMuchToForget = true
}

function releaseMemory(): void {
  if (isStopping) return
  hasMuchToForget = false
  holdYoungSpace()
  collectGarbage()
  shrinkMemory(acts.db)
  setTimeout(collectGarbage, GIVE_BACK_MS).unref()
}

function tellFailure(error: unknown): void {
  if (isStopping) return
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'fault'
  const message = error instanceof Error ? error.message : String(error)
  tell({ kind: 'failed', code, message, hint: error instanceof UserError ? error.hint : null, damage: damageOf(error) })
}

port.on('message', (message: ToWorker) => {
  if (message.kind !== 'stop') {
    obey(message).catch(tellFailure)
    return
  }
  isStopping = true
  clearTimeout(copiesTimer)
  removeCopies()
  acts.close()
  port.close()
})

try {
  void acts.db
  keepCopiesIn(join(dirname(setup.mirrorPath), 'copies'))
  tell({ kind: 'open' })
} catch (error) {
  tellFailure(error)
}
