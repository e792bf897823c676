import { listRunNames } from '../../api/archives/archive-files.ts'
import type { PurgeActs } from '../../api/context.ts'
import type { PurgeReport } from '../../api/answers/purge.ts'
import type { PurgeScope } from '../../mirror/purge/scope.ts'
import { UserError } from '../../model/user-error.ts'
import type { Settings } from '../../settings.ts'
import type { Archives } from '../archives/archives.ts'
import { mirrorPath } from '../data-folder.ts'
import type { EngineContext } from '../engine.ts'
import type { Executor } from '../executor/executor.ts'
import type { IndexWriter } from '../writer/thread-index.ts'
import type { Sharing } from '../hub/sharing.ts'
import { restoreArchive } from '../restore.ts'

export interface PurgingParts {
  readonly executor: Pick<Executor, 'run'>
  readonly archives: Pick<Archives, 'alone' | 'outOfReach'>
  readonly sharing: Pick<Sharing, 'sendPurges'>
  readonly passes: Pick<EngineContext['passes'], 'sync'>
  readonly writer: Pick<EngineContext['writer'], 'purge' | 'restore'>
  readonly index: Pick<IndexWriter, 'forgetWords'>
  /** Makes the readers of the mirror forget what they have cached. */
  renewReaders(): void
  log: EngineContext['log']
}

const ALL_ARCHIVES = { name: 'newest', from: null, map: {} }

/** Runs one purge at a time, from the request to the search of all files. */
export class Purging implements PurgeActs {
  readonly #dataDir: string
  readonly #archiveDir: string
  readonly #parts: PurgingParts
  #isBusy = false

  constructor({ dataDir, archives }: Pick<Settings, 'dataDir' | 'archives'>, parts: PurgingParts) {
    this.#dataDir = dataDir
    this.#archiveDir = archives.dir
    this.#parts = parts
  }

  get isBusy(): boolean {
    return this.#isBusy
  }

  async acceptLostBars(): Promise<void> {
    await this.#parts.writer.purge({ act: 'accept' })
  }

  async purge(scope: PurgeScope, isDryRun: boolean): Promise<PurgeReport> {
    return this.#alone(async () => {
      const { passes, writer, sharing, log } = this.#parts
      if (!isDryRun) {
        // What is not known yet cannot be kept out.
        await passes.sync({ full: false })
        await this.#restore()
      }
      const { plan } = await writer.purge({ act: 'remove', scope, isDryRun })
      if (plan === null) throw new Error('the writer did not say what it removed')
      if (isDryRun) return { ...plan, dryRun: true, archived: 0, unread: [], found: null }
      this.#parts.renewReaders()
      // The purge does not wait for a network.
      void sharing.sendPurges().catch((error: unknown) => {
        log('warn', `The hub does not know of the purge yet: ${whyOf(error)} The next push tells it.`)
      })
      const { chatIds, projectUris, beforeMs, match } = scope
      // After another purge, other chats may contain the text.
      const isOfText = chatIds === null && projectUris === null && beforeMs === null
      const finished = await this.#finish(isOfText ? match : null).catch((error: unknown) => {
        const text = `Half of the purge is done: it is removed from the mirror and stays out. The archives and the mirror’s file may still contain it: ${whyOf(error)}`
        throw new UserError('purge-half-done', text, 'When this is solved, purge again.', { cause: error })
      })
      log('info', `A purge removed ${plan.messages} messages of ${plan.chatCount} chats.`)
      return { ...plan, dryRun: false, ...finished }
    })
  }

  /** Finishes purges that were interrupted. Call it when the mirror is sound. */
  async resume(): Promise<void> {
    const { writer, log } = this.#parts
    try {
      const { isDone } = await writer.purge({ act: 'open' })
      // A purge that runs now does it too.
      if (this.#isBusy || isDone) return
      await this.#alone(async () => {
        await this.#restore()
        await this.#finish(null)
      })
      log('info', 'An interrupted purge is finished.')
    } catch (error) {
      if (error instanceof UserError && error.code === 'stopped') return
      log('warn', `An interrupted purge could not be finished: ${whyOf(error)} The next start tries again.`)
    }
  }

  async #alone<Outcome>(act: () => Promise<Outcome>): Promise<Outcome> {
    this.#isBusy = true
    try {
      return await this.#parts.archives.alone(act)
    } finally {
      this.#isBusy = false
    }
  }

  /** Reads into the mirror what only the archives have: they are rewritten from what the mirror has. */
  async #restore(): Promise<void> {
    if (listRunNames(this.#archiveDir).length === 0) return
    const { writer } = this.#parts
    await restoreArchive(
      ALL_ARCHIVES,
      this.#archiveDir,
      (part) => writer.restore(part),
      () => undefined,
    )
  }

  /** All that follows the removal from the mirror. @param match is searched for in all files at the end */
  async #finish(match: string | null): Promise<Pick<PurgeReport, 'archived' | 'unread' | 'found'>> {
    const { executor, archives, writer, index } = this.#parts
    const [dir, path] = [this.#archiveDir, mirrorPath(this.#dataDir)]
    const { archived, unread } = await executor.run('purge-archives', { dir, mirrorPath: path, match })
    const missing = archives.outOfReach.map((name) => `archive ${name} (there is no archive in ${dir})`)
    const isForgotten = await index.forgetWords()
    const { isDone } = await writer.purge({ act: 'compact' })
    if (!isDone || !isForgotten) throw new Error('another program reads the mirror')
    if (match === null) return { archived, unread: [...unread, ...missing], found: null }
    const order = { folders: [this.#dataDir, dir], mirrorPath: path, match }
    const scanned = await executor.run('purge-search', order)
    return { archived, unread: [...unread, ...missing, ...scanned.unread], found: scanned.found }
  }
}

/** As a sentence. */
function whyOf(error: unknown): string {
  const why = error instanceof Error ? error.message : String(error)
  return /[.!?]$/.test(why) ? why : `${why}.`
}
