import type { PurgeActs, PurgeReport, PurgeRequest } from '../../api/http/schemas/purge.ts'
import { UserError } from '../../model/user-error.ts'
import type { Readers } from '../writer/maintenance.ts'
import type { Scanned, ScanOrder } from './byte-scan.ts'
import type { ArchivesOrder, PurgedArchives } from './purge-archives.ts'
import type { MirrorPurgeOrder, MirrorPurgeOutcome } from './purge-mirror.ts'

export interface PurgingWorld {
  readonly dataDir: string
  readonly archiveDir: string
  readonly mirrorPath: string
  /** Reads all that is new in Cursor: what is not known yet cannot be kept out. */
  sync(): Promise<unknown>
  /** Reads into the mirror what only the archives have: they are rewritten from what the mirror has. */
  restore(): Promise<unknown>
  /** Asks the mirror's only writer. */
  mirror(order: MirrorPurgeOrder): Promise<MirrorPurgeOutcome>
  /** Runs something while nothing else works on the archives. */
  alone<Outcome>(act: () => Promise<Outcome>): Promise<Outcome>
  /** Both work in a process of their own. */
  rewriteArchives(order: ArchivesOrder, signal: AbortSignal): Promise<PurgedArchives>
  searchFiles(order: ScanOrder, signal: AbortSignal): Promise<Scanned>
  readonly readers: Readers
  /** Makes the readers of the mirror forget what they have cached. */
  renewReaders(): void
  /** Names of archives that were made, if their folder is missing. */
  outOfReach(): readonly string[]
  say(level: 'info' | 'warn', sentence: string): void
}

/** Runs one purge at a time, from the request to the search of all files. */
export class Purging implements PurgeActs {
  readonly #world: PurgingWorld
  readonly #stop = new AbortController()
  #doing: string | null = null

  constructor(world: PurgingWorld) {
    this.#world = world
  }

  get doing(): string | null {
    return this.#doing
  }

  stop(): void {
    this.#stop.abort()
  }

  async acceptLostBars(): Promise<void> {
    await this.#world.mirror({ act: 'accept' })
  }

  async purge({ scope, isDryRun }: PurgeRequest): Promise<PurgeReport> {
    return this.#alone('waiting for archives that are being made', async () => {
      const world = this.#world
      if (!isDryRun) {
        this.#doing = 'reading what is new in Cursor, and what only the archives have'
        await world.sync()
        await world.restore()
      }
      this.#doing = 'looking for what to remove'
      const { plan } = await world.mirror({ act: 'remove', scope, isDryRun })
      if (plan === null) throw new Error('the writer did not say what it removed')
      if (isDryRun) return { ...plan, dryRun: true, archived: 0, unread: [], found: null }
      world.renewReaders()
      const { chatIds, projectUris, beforeMs, match } = scope
      // After another purge, other chats may contain the text.
      const isOfText = chatIds === null && projectUris === null && beforeMs === null
      const finished = await this.#finish(isOfText ? match : null).catch((error: unknown) => {
        const text = `Half of the purge is done: it is removed from the mirror and stays out. The archives and the mirror’s file may still contain it: ${whyOf(error)}`
        throw new UserError('purge-half-done', text, 'When this is solved, purge again.', { cause: error })
      })
      world.say('info', `A purge removed ${plan.messages} messages of ${plan.chatCount} chats.`)
      return { ...plan, dryRun: false, ...finished }
    })
  }

  /** Finishes purges that were interrupted. Call it when the mirror is sound. */
  async resume(): Promise<void> {
    if (this.#stop.signal.aborted) return
    try {
      const { isDone } = await this.#world.mirror({ act: 'open' })
      // A purge that runs now does it too.
      if (this.#doing !== null || isDone) return
      await this.#alone('finishing a purge that was interrupted', async () => {
        await this.#world.restore()
        await this.#finish(null)
      })
      this.#world.say('info', 'An interrupted purge is finished.')
    } catch (error) {
      if (this.#stop.signal.aborted) return
      this.#world.say('warn', `An interrupted purge could not be finished: ${whyOf(error)} The next start tries again.`)
    }
  }

  async #alone<Outcome>(doing: string, act: () => Promise<Outcome>): Promise<Outcome> {
    this.#doing = doing
    try {
      return await this.#world.alone(act)
    } finally {
      this.#doing = null
    }
  }

  /** All that follows the removal from the mirror. @param match is searched for in all files at the end */
  async #finish(match: string | null): Promise<Pick<PurgeReport, 'archived' | 'unread' | 'found'>> {
    const { dataDir, archiveDir: dir, mirrorPath } = this.#world
    this.#doing = 'rewriting the archives'
    const { archived, unread } = await this.#world.rewriteArchives({ dir, mirrorPath, match }, this.#stop.signal)
    const missing = this.#world.outOfReach().map((name) => `archive ${name} (there is no archive in ${dir})`)
    this.#doing = 'rewriting the mirror’s file'
    await this.#compact()
    if (match === null) return { archived, unread: [...unread, ...missing], found: null }
    this.#doing = 'searching all files for what was removed'
    const scanned = await this.#world.searchFiles({ folders: [dataDir, dir], mirrorPath, match }, this.#stop.signal)
    return { archived, unread: [...unread, ...missing, ...scanned.unread], found: scanned.found }
  }

  async #compact(): Promise<void> {
    const { readers, mirror } = this.#world
    if ((await mirror({ act: 'compact' })).isDone) return
    readers.shut()
    try {
      if ((await mirror({ act: 'compact' })).isDone) return
    } finally {
      readers.reopen()
    }
    throw new Error('another program reads the mirror')
  }
}

/** As a sentence. */
function whyOf(error: unknown): string {
  const why = error instanceof Error ? error.message : String(error)
  return /[.!?]$/.test(why) ? why : `${why}.`
}
