import type { PurgeActs, PurgeRequest } from '../../api/http/purge-shapes.ts'
import type { PurgeReport } from '../../api/http/schemas/purge.ts'
import { isOfText, type PurgeScope } from '../../mirror/purge/scope.ts'
import { UserError } from '../../model/user-error.ts'
import type { Readers } from '../writer/maintenance.ts'
import type { ScanOrder } from './byte-scan.ts'
import type { purgeFiles } from './purge-files.ts'
import type { MirrorPurgeOrder, MirrorPurgeOutcome } from './purge-mirror.ts'

export interface PurgingSetup {
  readonly dataDir: string
  readonly archiveDir: string
  readonly mirrorPath: string
}

export interface PurgingWorld {
  /** Reads all that is new in Cursor: what is not known yet cannot be kept out. */
  sync(): Promise<unknown>
  /** Reads into the mirror what only the archives have: they are rewritten from what the mirror has. */
  restore(): Promise<unknown>
  /** Asks the mirror's only writer. */
  mirror(order: MirrorPurgeOrder): Promise<MirrorPurgeOutcome>
  /** Runs something while nothing else works on the archives. */
  alone<Outcome>(act: () => Promise<Outcome>): Promise<Outcome>
  /** Both work in a process of their own. */
  rewriteArchives(...given: [...Parameters<typeof purgeFiles>, AbortSignal]): ReturnType<typeof purgeFiles>
  searchFiles(order: ScanOrder, signal: AbortSignal): Promise<PurgeReport['check']>
  readonly readers: Readers
  /** Makes the readers of the mirror forget what they have cached. */
  renewReaders(): void
  /** Names of archives that were made, if their folder is missing. */
  outOfReach(): readonly string[]
  say(level: 'info' | 'warn', sentence: string): void
}

const LEFT = {
  nothing: null,
  'disk-full':
    'The rows are removed, but there is no room to rewrite the mirror’s file: it may contain bytes of them until there is room and the daemon starts again, or until you purge again.',
  reader:
    'The rows are removed, but another program reads the mirror: its write-ahead log may contain bytes of them. It is emptied at the next start of the daemon, or when you purge again.',
}
const HINT = 'Make sure that the archive folder can be written to, and purge again.'

/** Runs one purge at a time, from the request to the search of all files. */
export class Purging implements PurgeActs {
  readonly #setup: PurgingSetup
  readonly #world: PurgingWorld
  readonly #stop = new AbortController()
  #doing: string | null = null

  constructor(setup: PurgingSetup, world: PurgingWorld) {
    this.#setup = setup
    this.#world = world
  }

  get doing(): string | null {
    return this.#doing
  }

  stop(): void {
    this.#stop.abort()
  }

  async purge({ scope, isDryRun }: PurgeRequest): Promise<PurgeReport> {
    if (this.#doing !== null) {
      throw new UserError('purge-busy', `A purge is running already: ${this.#doing}.`, 'Try again when it is done.')
    }
    return this.#alone('waiting for archives that are being made', () => this.#purge(scope, isDryRun))
  }

  async acceptLostBars(): Promise<void> {
    await this.#world.mirror({ act: 'accept' })
  }

  /** Finishes purges that were interrupted. Call it when the mirror is sound. */
  async resume(): Promise<void> {
    if (this.#stop.signal.aborted) return
    try {
      const { unfinished } = await this.#world.mirror({ act: 'open' })
      // A purge that runs now does it too.
      if (this.#doing !== null || (!unfinished.archives && !unfinished.bytes)) return
      const left = await this.#alone('finishing a purge that was interrupted', async () => {
        if (unfinished.archives) await this.#purgeArchives(null, false)
        return this.#compact()
      })
      if (left === null) this.#world.say('info', 'An interrupted purge is finished.')
      else this.#world.say('warn', left)
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

  async #purge(scope: PurgeScope, isDryRun: boolean): Promise<PurgeReport> {
    const { archiveDir } = this.#setup
    if (!isDryRun) {
      this.#doing = 'reading what is new in Cursor first'
      await this.#world.sync()
      this.#doing = 'reading what only the archives have'
      await this.#world.restore()
    }
    this.#doing = isDryRun ? 'looking for what to remove' : 'removing rows and words from the mirror'
    const { removed } = await this.#world.mirror({ act: 'remove', scope, isDryRun })
    if (removed === null) throw new Error('the writer did not say what it removed')
    const { going, ...planned } = removed
    // Seldom needed, and it loads a date library.
    const { surveyArchives } = await import('../../api/archives/purge-archive.ts')
    const survey = surveyArchives(archiveDir, new Map(going))
    const unknownChats = planned.unknownChats.filter((id) => !survey.chatIds.has(id))
    const report = { ...planned, unknownChats, dryRun: isDryRun, left: null, check: null }
    if (isDryRun) return { ...report, archives: this.#withOutOfReach(survey.report) }
    this.#world.renewReaders()
    const match = isOfText(scope) ? scope.match : null
    const archives = await this.#purgeArchives(match, true).catch((error: unknown) => {
      const text = `Half of the purge is done: it is removed from the mirror and stays out. The archives may still contain it: ${whyOf(error)}`
      throw new UserError('purge-half-done', text, HINT, { cause: error })
    })
    this.#doing = 'rewriting the mirror’s file'
    const left = await this.#compact()
    const check = match === null ? null : await this.#search(match)
    const found = check === null ? '' : ` ${check.found.length} files still contain the text.`
    const { messages, chatCount, facts } = planned
    this.#world.say('info', `A purge removed ${messages} messages of ${chatCount} chats, and ${facts} facts.${found}`)
    return { ...report, archives, left, check }
  }

  async #purgeArchives(match: string | null, isRestored: boolean): Promise<PurgeReport['archives']> {
    const { archiveDir: dir, mirrorPath } = this.#setup
    this.#doing = 'rewriting the archives'
    const done = await this.#world.rewriteArchives({ dir, mirrorPath, match, isRestored }, this.#stop.signal)
    if (done === null) {
      await this.#world.restore()
      return this.#purgeArchives(match, true)
    }
    await this.#world.mirror({ act: 'archived' })
    return this.#withOutOfReach(done)
  }

  #withOutOfReach(archives: PurgeReport['archives']): PurgeReport['archives'] {
    const why = `there is no archive in ${this.#setup.archiveDir}`
    const missing = this.#world.outOfReach().map((name) => ({ kind: 'run' as const, name, chatId: null, why }))
    return { ...archives, damaged: [...archives.damaged, ...missing] }
  }

  /** @returns what is left to do, as a sentence */
  async #compact(): Promise<string | null> {
    let { left } = await this.#world.mirror({ act: 'compact' })
    if (left === 'reader') {
      this.#world.readers.shut()
      try {
        ;({ left } = await this.#world.mirror({ act: 'compact' }))
      } finally {
        this.#world.readers.reopen()
      }
    }
    return LEFT[left]
  }

  /** Other chats may contain the text if the purge was limited, so only a purge of a text alone is followed by it. */
  #search(match: string): Promise<PurgeReport['check']> {
    const { dataDir, archiveDir, mirrorPath } = this.#setup
    this.#doing = 'searching all files for what was removed'
    return this.#world.searchFiles({ folders: [dataDir, archiveDir], mirrorPath, match }, this.#stop.signal)
  }
}

/** As a sentence. */
function whyOf(error: unknown): string {
  const why = error instanceof Error ? error.message : String(error)
  return /[.!?]$/.test(why) ? why : `${why}.`
}
