import { removeCopies } from '../../indexer/open-safely/checked-copy.ts'
import type { PassStep } from '../../indexer/source.ts'
import type { Mirror } from '../../mirror/open.ts'
import { excludeProjects } from '../../mirror/projects/place-chats.ts'
import { isDone, requireBars, takePacked } from '../../mirror/purge/bars.ts'
import { turnEstimates } from '../../mirror/usage/estimates.ts'
import { importUsage } from '../../mirror/usage/usage-events.ts'
import { UserError } from '../../model/user-error.ts'
import { MirrorMaintenance } from './maintenance.ts'
import type { RunOrder, RunOutcome, StepNews, WriterOrder, WriterOutcome, WriterSetup } from './messages.ts'
import { Listing, readingStep, runPasses } from './run-passes.ts'

/** How many losses of a change are reported one by one. The others are reported as a number. */
const LOSSES_REPORTED_MAX = 100

/** Called after each step, with what there is to say of it. If it throws, the act ends. */
type Turn = (news: StepNews | null) => Promise<void>

/** Everything that the mirror's only writer does, in bounded steps. Both forms use it. */
export class WriterActs {
  readonly maintenance: MirrorMaintenance
  readonly #setup: WriterSetup
  readonly #now: () => number
  readonly #listing = new Listing()
  #isClosed = false
  #hasAskedArchive = false

  constructor(setup: WriterSetup, now: () => number) {
    this.#setup = setup
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
    const { archiveDir } = this.#setup
    if (!this.#hasAskedArchive && archiveDir !== undefined) {
      takePacked(this.db, archiveDir)
      // When it is opened again, what the new bars name is removed.
      if (!isDone(this.db, 'rows')) this.maintenance.close()
    }
    this.#hasAskedArchive = true
    requireBars(this.db)
  }

  async act(order: WriterOrder, turn: Turn): Promise<WriterOutcome> {
    try {
      return await this.#act(order, turn)
    } catch (error) {
      // When it is opened again, the user may have put the bars back, or a file that cannot be read is set aside.
      if (error instanceof UserError && error.code === 'bars-lost') this.maintenance.close()
      throw error
    }
  }

  async #act(order: WriterOrder, turn: Turn): Promise<WriterOutcome> {
    switch (order.kind) {
      case 'run':
        return this.#run(order, turn)
      case 'purge': {
        // Copies of Cursor's files may contain purged text.
        if (order.order.act === 'remove' && !order.order.isDryRun) removeCopies()
        const { purgeMirror } = await import('../purge/purging.ts')
        return await purgeMirror(this.maintenance, order.order, this.#now)
      }
      case 'hub': {
        this.#requireBars()
        // Seldom needed.
        const { writeHub } = await import('../hub/write-hub.ts')
        return driven(
          writeHub(order.order, () => this.#reading, this.#now),
          (outcome) => turn(newsOf(outcome)),
        )
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
        return driven(
          restorePart(order.part, () => this.#reading, this.#now),
          (outcome) => turn(newsOf(outcome)),
        )
      }
    }
  }

  async #run(order: RunOrder, turn: Turn): Promise<RunOutcome> {
    if (order.sources.length > 0) this.#requireBars()
    const context = { now: this.#now, listing: this.#listing, turn: (step: PassStep) => turn(describeStep(step)) }
    return runPasses(this.#reading, this.#setup, order, context)
  }

  /** Closes the mirror. It cannot be opened again. */
  close(): void {
    this.#isClosed = true
    this.maintenance.close()
  }
}

/** Runs the steps of an act to their end. If `turn` throws, what the steps have open is closed. */
async function driven<Step, End>(
  steps: Generator<Step, End> | AsyncGenerator<Step, End>,
  turn: (step: Step) => Promise<void>,
): Promise<End> {
  try {
    for (;;) {
      const next = await steps.next()
      if (next.done === true) return next.value
      await turn(next.value)
    }
  } finally {
    await steps.return(undefined as never)
  }
}

const newsOf = (outcome: PassStep['outcome']): StepNews | null =>
  outcome === null ? null : describeStep({ ...readingStep, outcome })

function describeStep({ done, total, bytesRead, longestReadMs, backlog, outcome }: PassStep): StepNews {
  const { chatIds, messages, losses } = outcome ?? { chatIds: [], messages: [], losses: [] }
  const reportedLosses = losses.slice(0, LOSSES_REPORTED_MAX)
  const moreLosses = losses.length - reportedLosses.length
  return { done, total, bytesRead, longestReadMs, backlog, chatIds, messages, losses: reportedLosses, moreLosses }
}
