import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { parentPort } from 'node:worker_threads'
import { keepCopiesIn, removeCopies } from '../indexer/open-safely/checked-copy.ts'
import { shrinkMemory } from '../mirror/fulltext/bulk.ts'
import { saveEstimates } from '../mirror/usage/estimates.ts'
import { damageOf } from '../mirror/maintenance/check-pages.ts'
import { UserError } from '../model/user-error.ts'
import { collectGarbage, GIVE_BACK_MS, holdYoungSpace, letYoungSpaceGrow } from './heap-limits.ts'
import type {
  FromWorker,
  IngestSetup,
  PurgeOrder,
  RestoreStretch,
  RunOrder,
  RunOutcome,
  StepNews,
  ToWorker,
  UpkeepOrder,
  WriteOrder,
  WriteOutcome,
} from './writer-messages.ts'
import { runPasses } from './run-passes.ts'
import { MirrorMaintenance } from './maintenance.ts'
import { readingStep, type PassStep } from '../indexer/source.ts'
import type { Mirror } from '../mirror/open.ts'
import type { RestoreSlice } from './restore/restore-orders.ts'
import type { RestoreSlices } from './restore/restore-slices.ts'

/** Of a batch that lost more, the rest is told as a number. */
const LOSSES_TOLD_MAX = 100

/**
 * The thread that reads Cursor and writes the mirror: SQLite calls block, and here they block nothing that answers.
 * It holds the mirror's one writing connection and owns no clock: it works when told to.
 */
const port = parentPort
if (port === null) throw new Error('this file runs as a worker')
// The first word is where the mirror lies. Orders follow once it is told to be open.
const [setup] = (await once(port, 'message')) as [IngestSetup]
const tell = (message: FromWorker): void => port.postMessage(message)

/** Sources of one file may be read in runs that follow on each other. */
const COPIES_KEPT_MS = 5000

let isStopping = false
let copiesTimer: NodeJS.Timeout | undefined
const kept = new MirrorMaintenance(setup.mirrorPath, Date.now)

/** Runs it to its end, or, where the daemon stops, to the end of a step. @returns null where it was cut off */
async function drive<Step, End>(steps: Generator<Step, End>, onStep: (step: Step) => void): Promise<End | null> {
  for (let next = steps.next(); ; next = steps.next()) {
    if (next.done === true) return next.value
    onStep(next.value)
    // Lets a stop order in between two steps.
    await new Promise((resume) => setImmediate(resume))
    if (!isStopping) continue
    // What stands open is closed on the way out; the mirror is closed already.
    steps.return(undefined as never)
    return null
  }
}

/** A run that read more than this of Cursor's read very much: twice what a look at the chats of today may read. */
const MUCH_OCTETS = 64 * 1024 * 1024

/** That much is read, or indexed out of a backlog, is seldom, and then followed by nothing for a long time. */
let hasMuchToForget = false

function takeRoom(): void {
  if (!hasMuchToForget) letYoungSpaceGrow()
  hasMuchToForget = true
}

function comeToRest(): void {
  hasMuchToForget = false
  holdYoungSpace()
  collectGarbage()
  shrinkMemory(kept.db)
  setTimeout(collectGarbage, GIVE_BACK_MS).unref()
}

const CUT_OFF: RunOutcome = { changed: 0, added: 0, gone: 0, ends: [], backlog: 0, needsMerge: false, isWhole: false }

async function run(order: RunOrder): Promise<void> {
  clearTimeout(copiesTimer)
  try {
    const passes = runPasses(kept.db, setup, order, Date.now)
    let octets = 0
    const outcome = await drive(passes, (step) => {
      octets += step.bytesRead
      if (octets > MUCH_OCTETS || step.backlog !== null) takeRoom()
      tell({ kind: 'step', step: describeStep(step) })
    })
    tell({ kind: 'done', outcome: outcome ?? CUT_OFF })
    if (outcome?.backlog === 0 && !outcome.needsMerge && hasMuchToForget) comeToRest()
  } finally {
    copiesTimer = setTimeout(removeCopies, COPIES_KEPT_MS).unref()
  }
}

async function keep({ task }: UpkeepOrder): Promise<void> {
  const outcome = await drive(kept.keep(task), () => undefined)
  if (outcome !== null) tell({ kind: 'kept', outcome })
}

/** Of files that were copied here nothing may be left, either. */
async function purge({ order }: PurgeOrder): Promise<void> {
  if (order.act === 'remove') removeCopies()
  const { purgeMirror } = await import('./purge/purge-mirror.ts')
  const outcome = await drive(purgeMirror(kept, order, Date.now), () => undefined)
  if (outcome !== null) tell({ kind: 'purged', outcome })
}

/** What is still at work when the mirror is closed must not open it again. */
function mirrorInUse(): Mirror {
  if (isStopping) throw new UserError('stopped', 'The daemon is stopping.', 'Start it again.')
  return kept.db
}

let restores: RestoreSlices | null = null

async function restore({ order, forMs }: RestoreStretch): Promise<RestoreSlice> {
  // Seldom needed, like the reading of usage files below.
  const { RestoreSlices: Slices } = await import('./restore/restore-slices.ts')
  restores ??= new Slices({ mirror: mirrorInUse, now: Date.now })
  return restores.work(order, forMs, ({ outcome }) => {
    if (outcome !== null) tell({ kind: 'step', step: describeStep({ ...readingStep, outcome }) })
  })
}

async function write(order: WriteOrder | RestoreStretch): Promise<WriteOutcome> {
  if (order.kind === 'estimates') return saveEstimates(kept.db, order.estimates)
  if (order.kind === 'restore') return restore(order)
  // Seldom needed, and with it a calendar that takes memory.
  const { takeUsageFile } = await import('./import-usage.ts')
  return takeUsageFile(kept.db, order.file, Date.now())
}

function describeStep({ done, total, bytesRead, longestReadMs, backlog, outcome }: PassStep): StepNews {
  const { chatIds, messages, losses } = outcome ?? { chatIds: [], messages: [], losses: [] }
  const told = losses.slice(0, LOSSES_TOLD_MAX)
  const moreLosses = losses.length - told.length
  return { done, total, bytesRead, longestReadMs, backlog, chatIds, messages, losses: told, moreLosses }
}

function tellFailure(error: unknown): void {
  if (isStopping) return
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'fault'
  const message = error instanceof Error ? error.message : String(error)
  tell({ kind: 'failed', code, message, hint: error instanceof UserError ? error.hint : null, damage: damageOf(error) })
}

port.on('message', (message: ToWorker) => {
  if (message.kind === 'run') {
    run(message).catch(tellFailure)
    return
  }
  if (message.kind === 'upkeep') {
    keep(message).catch(tellFailure)
    return
  }
  if (message.kind === 'purge') {
    purge(message).catch(tellFailure)
    return
  }
  if (message.kind !== 'stop') {
    write(message).then((outcome) => tell({ kind: 'written', outcome }), tellFailure)
    return
  }
  isStopping = true
  clearTimeout(copiesTimer)
  removeCopies()
  kept.close()
  port.close()
})

try {
  void kept.db
  keepCopiesIn(join(dirname(setup.mirrorPath), 'copies'))
  tell({ kind: 'open' })
} catch (error) {
  tellFailure(error)
}
