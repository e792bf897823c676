import { dirname, join } from 'node:path'
import { setImmediate as yieldToOrders } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import { keepCopiesIn, removeCopies } from '../../indexer/open-safely/checked-copy.ts'
import type { PassStep } from '../../indexer/source.ts'
import { type Mirror, shrinkMemory } from '../../mirror/open.ts'
import { codeOf, isDamage } from '../../mirror/damage/find-damage.ts'
import { listSalvages } from '../../mirror/damage/replace-mirror.ts'
import { excludeProjects, mergeProject } from '../../mirror/projects/place-chats.ts'
import { isDone, requireBars, takePacked } from '../../mirror/purge/bars.ts'
import { turnEstimates } from '../../mirror/write/write.ts'
import { importUsage } from '../../mirror/usage/usage-events.ts'
import { Turns } from '../deferred.ts'
import { failureOf } from '../failure.ts'
import { MirrorMaintenance } from './maintenance.ts'
import type { FromThread } from './own-thread.ts'
import { Listing, readingStep, runPasses } from './run-passes.ts'
import type { OpenedMirror, RunOrder, RunOutcome, WriterOrder, WriterOutcome, WriterSetup } from './writer.ts'

/** A run counts as large from this many bytes on: twice the maximum that a check of today's chats reads. */
const LARGE_RUN_BYTES = 64 * 1024 * 1024

/** Ends an act at its next step. The next start of the program continues it. */
class Stopped extends Error {}

/**
 * The thread of the mirror's only writer. SQLite calls block, and here they do not block requests. The first message is
 * the setup. The thread has no timers for work: it works when it gets an order.
 */
export function serveWriter(port: MessagePort): void {
  let writer: ServedWriter | null = null
  port.on('message', (message: WriterSetup | WriterOrder | 'stop') => {
    if (writer === null) {
      writer = new ServedWriter(port, message as WriterSetup)
      writer.open()
    } else if (message === 'stop') writer.stop()
    else void writer.execute(message as WriterOrder)
  })
}

class ServedWriter {
  readonly #port: MessagePort
  readonly #setup: WriterSetup
  readonly #kept: MirrorMaintenance
  readonly #listing = new Listing()
  #hasAskedArchive = false
  readonly #turns = new Turns()
  #isBusy = false
  #isStopping = false

  constructor(port: MessagePort, setup: WriterSetup) {
    this.#port = port
    this.#setup = setup
    this.#kept = new MirrorMaintenance(setup.mirrorPath)
  }

  open(): void {
    try {
      keepCopiesIn(join(dirname(this.#setup.mirrorPath), 'copies'))
      const { db, news } = this.#kept
      const opened: OpenedMirror = { news, notices: listSalvages(db, this.#setup.mirrorPath) }
      this.#send({ kind: 'open', opened })
    } catch (error) {
      this.#sendFailure(error)
    }
  }

  /** One order after the other. */
  execute(order: WriterOrder): Promise<void> {
    return this.#turns.run(() => this.#execute(order))
  }

  async #execute(order: WriterOrder): Promise<void> {
    if (this.#isStopping) return
    this.#isBusy = true
    try {
      this.#send({ kind: 'done', outcome: await this.#act(order) })
    } catch (error) {
      if (!this.#isStopping) this.#sendFailure(error)
    } finally {
      this.#isBusy = false
      if (this.#isStopping) this.#close()
    }
  }

  stop(): void {
    this.#isStopping = true
    if (!this.#isBusy) this.#close()
  }

  #close(): void {
    removeCopies()
    this.#kept.close()
    this.#port.close()
  }

  #send(message: FromThread<PassStep>): void {
    this.#port.postMessage(message)
  }

  #sendFailure(error: unknown): void {
    if (isDamage(error)) this.#kept.noteDamage()
    // When it is opened again, the user may have put the bars back, or a file that cannot be read is set aside.
    if (codeOf(error) === 'bars-lost') this.#kept.close()
    this.#send({ kind: 'failed', failure: failureOf(error) })
  }

  /** Ends a step of an act: reports it, and lets a stop order arrive. */
  async #turn(step: PassStep | null): Promise<void> {
    if (step !== null) this.#send({ kind: 'step', step })
    await yieldToOrders()
    if (this.#isStopping) throw new Stopped()
  }

  /** The mirror, for acts that read Cursor or an archive. */
  get #reading(): Mirror {
    const { db } = this.#kept
    excludeProjects(db, this.#setup.excludedProjects ?? [])
    turnEstimates(db, this.#setup.isEstimating ?? true, Date.now())
    return db
  }

  /** Whoever reads Cursor or an archive could bring back what was purged. @throws UserError `bars-lost` */
  #requireBars(): void {
    const { archiveDir } = this.#setup
    if (!this.#hasAskedArchive && archiveDir !== undefined) {
      takePacked(this.#kept.db, archiveDir)
      // When it is opened again, what the new bars name is removed.
      if (!isDone(this.#kept.db, 'rows')) this.#kept.close()
    }
    this.#hasAskedArchive = true
    requireBars(this.#kept.db)
  }

  /** Every act in bounded steps. What is seldom needed is loaded then. */
  async #act({ act, order }: WriterOrder): Promise<WriterOutcome> {
    switch (act) {
      case 'run':
        return this.#run(order)
      case 'purge': {
        // Copies of Cursor's files may contain purged text.
        if (order.act === 'remove' && !order.isDryRun) removeCopies()
        const { purgeMirror } = await import('../purge/purging.ts')
        return purgeMirror(this.#kept, order)
      }
      case 'importUsage': {
        const { readUsageFile } = await import('../../api/usage-file.ts')
        return importUsage(this.#kept.db, readUsageFile(order), Date.now())
      }
      case 'merge': {
        this.#requireBars()
        const chatIds = mergeProject(this.#reading, order.uri, order.target)
        const outcome = { added: 0, changed: chatIds.length, gone: 0, chatIds, messages: [], losses: [] }
        await this.#turn({ ...readingStep, outcome })
        return { chats: chatIds.length }
      }
      case 'hub': {
        this.#requireBars()
        const { writeHub } = await import('../hub/write-hub.ts')
        return this.#drive(writeHub(order, () => this.#reading, Date.now))
      }
      default: {
        this.#requireBars()
        const { restorePart } = await import('../restore.ts')
        return this.#drive(restorePart(order, () => this.#reading, Date.now))
      }
    }
  }

  async #run(order: RunOrder): Promise<RunOutcome> {
    try {
      if (order.sources.length > 0) this.#requireBars()
      let [bytes, hasGrown] = [0, false]
      const turn = async (step: PassStep): Promise<void> => {
        bytes += step.bytesRead
        hasGrown ||= bytes > LARGE_RUN_BYTES || step.backlog !== null
        await this.#turn(step)
      }
      const outcome = await runPasses(this.#reading, this.#setup, order, {
        now: Date.now,
        listing: this.#listing,
        turn,
      })
      if (outcome.backlog === 0 && hasGrown) shrinkMemory(this.#kept.db)
      return outcome
    } finally {
      removeCopies()
    }
  }

  /** Runs the steps of an act to their end. If it is stopped, what the steps have open is closed. */
  async #drive<End>(
    steps: Generator<PassStep['outcome'], End> | AsyncGenerator<PassStep['outcome'], End>,
  ): Promise<End> {
    try {
      for (;;) {
        const next = await steps.next()
        if (next.done === true) return next.value
        const outcome = next.value
        await this.#turn(outcome === null ? null : { ...readingStep, outcome })
      }
    } finally {
      await steps.return(undefined as never)
    }
  }
}
