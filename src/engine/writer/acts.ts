import { join } from 'node:path'
import { removeCopies } from '../../indexer/open-safely/checked-copy.ts'
import { readingStep, type PassStep } from '../../indexer/source.ts'
import { CutAhead } from '../../mirror/fulltext/cut-ahead.ts'
import type { AsideThread } from '../aside-thread.ts'
import type { Mirror } from '../../mirror/open.ts'
import { excludeProjects } from '../../mirror/projects/exclusion.ts'
import { noteStage, requireBars } from '../../mirror/purge/stages.ts'
import { countBars, takePacked, USER_FILE } from '../../mirror/purge/user-file.ts'
import { turnEstimates } from '../../mirror/usage/estimates.ts'
import { importUsage } from '../../mirror/usage/usage-events.ts'
import { UserError } from '../../model/user-error.ts'
import { MirrorMaintenance } from './maintenance.ts'
import type { RunOrder, RunOutcome, StepNews, WriterOrder, WriterOutcome, WriterSetup } from './messages.ts'
import { runPasses } from './run-passes.ts'

/** How many losses of a batch are reported one by one. The others are reported as a number. */
const LOSSES_REPORTED_MAX = 100

type OnStep = (step: StepNews) => void

/** Everything that the mirror's only writer does, in steps. It can be stopped between two steps. Both forms use it. */
export class WriterActs {
  readonly maintenance: MirrorMaintenance
  readonly #setup: WriterSetup
  readonly #now: () => number
  readonly #aside: { readonly thread: AsideThread; readonly cut: CutAhead } | null
  #isClosed = false
  #hasAskedArchive = false

  /** @param aside another thread for large passes; null for one thread */
  constructor(setup: WriterSetup, now: () => number, aside: AsideThread | null = null) {
    this.#setup = setup
    this.#aside = aside === null ? null : { thread: aside, cut: new CutAhead(aside, setup.mirrorPath) }
    this.#now = now
    this.maintenance = new MirrorMaintenance(setup.mirrorPath, now)
  }

  /** The writing connection. @throws UserError `stopped` after `close` */
  get db(): Mirror {
    if (this.#isClosed) throw new UserError('stopped', 'The daemon is stopping.', 'Start it again.')
    return this.maintenance.db
  }

  /** The same, for acts that read Cursor or an archive. It reads the mirror, so a damaged one is checked before. */
  get #reading(): Mirror {
    const { db } = this
    excludeProjects(db, this.#setup.excludedProjects ?? [])
    turnEstimates(db, this.#setup.isEstimating ?? true, this.#now())
    return db
  }

  /** Whoever reads Cursor or an archive could bring back what was purged. @throws UserError `bars-lost` */
  #requireBars(): void {
    const { db } = this
    const { archiveDir } = this.#setup
    if (!this.#hasAskedArchive && archiveDir !== undefined) {
      const known = takePacked(db, join(archiveDir, USER_FILE))
      if (known > countBars(db)) noteStage(db, 'known', known)
    }
    this.#hasAskedArchive = true
    try {
      requireBars(db)
    } catch (error) {
      // When it is opened again, the user may have put the file back.
      this.maintenance.close()
      throw error
    }
  }

  async *act(order: WriterOrder, onStep: OnStep): AsyncGenerator<void, WriterOutcome> {
    switch (order.kind) {
      case 'run':
        return yield* this.#run(order, onStep)
      case 'purge': {
        // Copies of Cursor's files may contain purged text.
        if (order.order.act === 'remove' && !order.order.isDryRun) removeCopies()
        const { purgeMirror } = await import('../purge/purge-mirror.ts')
        return purgeMirror(this.maintenance, order.order, this.#now)
      }
      case 'hub': {
        this.#requireBars()
        // Seldom needed.
        const { writeHub } = await import('../hub/write-hub.ts')
        for (const steps = writeHub(order.order, () => this.#reading, this.#now); ;) {
          const step = await steps.next()
          if (step.done === true) return step.value
          if (step.value !== null) onStep(describeStep({ ...readingStep, outcome: step.value }))
          yield
        }
      }
      case 'usage': {
        // Seldom needed, and it loads a date library.
        const { readUsageFile } = await import('../../api/tokens/read-usage-file.ts')
        const { events, unknownColumns } = readUsageFile(order.file.text, order.file.timeZone)
        return { ...importUsage(this.db, events, this.#now()), unknownColumns }
      }
      default: {
        this.#requireBars()
        // Seldom needed.
        const { restorePart } = await import('../restore.ts')
        return yield* reported(
          restorePart(order.part, () => this.#reading, this.#now),
          onStep,
        )
      }
    }
  }

  *#run(order: RunOrder, onStep: OnStep): Generator<void, RunOutcome> {
    if (order.sources.length > 0) this.#requireBars()
    const passes = runPasses(this.#reading, this.#setup, order, this.#now, { aside: this.#aside })
    let isBacklog = false
    try {
      const outcome = yield* reported(passes, onStep)
      isBacklog = outcome.backlog > 0
      return outcome
    } finally {
      if (!isBacklog) this.#rest()
    }
  }

  /** Frees the memory of the other thread. */
  #rest(): void {
    this.#aside?.cut.end()
    this.#aside?.thread.rest()
  }

  /** Closes the mirror. It cannot be opened again. */
  close(): void {
    this.#isClosed = true
    this.#rest()
    this.maintenance.close()
  }
}

function* reported<End>(passes: Generator<PassStep, End>, onStep: OnStep): Generator<void, End> {
  try {
    for (;;) {
      const next = passes.next()
      if (next.done === true) return next.value
      onStep(describeStep(next.value))
      yield
    }
  } finally {
    // If it ended early, this closes the files that the passes have open.
    passes.return(undefined as never)
  }
}

function describeStep({ done, total, bytesRead, longestReadMs, backlog, outcome }: PassStep): StepNews {
  const { chatIds, messages, losses } = outcome ?? { chatIds: [], messages: [], losses: [] }
  const reportedLosses = losses.slice(0, LOSSES_REPORTED_MAX)
  const moreLosses = losses.length - reportedLosses.length
  return { done, total, bytesRead, longestReadMs, backlog, chatIds, messages, losses: reportedLosses, moreLosses }
}
