import { dirname, join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { keepCopiesIn, removeCopies } from '../indexer/checked-copy.ts'
import { openWriter, type Mirror } from '../mirror/open.ts'
import { Trouble } from '../model/trouble.ts'
import type { FromWorker, IngestSetup, RunOrder, StepNews, ToWorker } from './ingest-messages.ts'
import { runPasses } from './ingest-run.ts'
import type { PassStep } from '../indexer/source.ts'

/**
 * The thread that reads Cursor and writes the mirror: SQLite calls block, and here they block nothing that answers.
 * It holds the mirror's one writing connection and owns no clock: it works when told to.
 */
const port = parentPort
if (port === null) throw new Error('this file runs as a worker')
const setup = workerData as IngestSetup
const tell = (message: FromWorker): void => port.postMessage(message)

/** Sources of one file may be read in runs that follow on each other. */
const COPIES_KEPT_MS = 5000

let isStopping = false
let copiesTimer: NodeJS.Timeout | undefined
let mirror: Mirror | null = null

function openMirror(): Mirror {
  mirror ??= openWriter(setup.mirrorPath)
  return mirror
}

async function run(order: RunOrder): Promise<void> {
  clearTimeout(copiesTimer)
  try {
    await runToEnd(order)
  } finally {
    copiesTimer = setTimeout(removeCopies, COPIES_KEPT_MS).unref()
  }
}

async function runToEnd(order: RunOrder): Promise<void> {
  const passes = runPasses(openMirror(), setup, order, Date.now)
  for (let next = passes.next(); ; next = passes.next()) {
    if (next.done === true) return tell({ kind: 'done', outcome: next.value })
    tell({ kind: 'step', step: describeStep(next.value) })
    // Lets a stop order in between two steps.
    await new Promise((resume) => setImmediate(resume))
    if (!isStopping) continue
    const cutOff = { changed: 0, added: 0, gone: 0, ends: [], backlog: 0, isWhole: false }
    passes.return(cutOff)
    return tell({ kind: 'done', outcome: cutOff })
  }
}

function describeStep({ done, total, bytesRead, longestReadMs, backlog, outcome }: PassStep): StepNews {
  const { chatIds, messages } = outcome ?? { chatIds: [], messages: [] }
  return { done, total, bytesRead, longestReadMs, backlog, chatIds, messages }
}

function tellFailure(error: unknown): void {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'fault'
  const message = error instanceof Error ? error.message : String(error)
  tell({ kind: 'failed', code, message, hint: error instanceof Trouble ? error.hint : null })
}

port.on('message', (message: ToWorker) => {
  if (message.kind === 'run') {
    run(message).catch(tellFailure)
    return
  }
  isStopping = true
  clearTimeout(copiesTimer)
  removeCopies()
  mirror?.close()
  port.close()
})

try {
  openMirror()
  keepCopiesIn(join(dirname(setup.mirrorPath), 'copies'))
  tell({ kind: 'open' })
} catch (error) {
  tellFailure(error)
}
