import type { PurgeActs, PurgeRequest } from '../../api/http/purge-shapes.ts'
import type { MirrorPlan } from '../../mirror/purge/plan-purge.ts'
import { isOfText, type PurgeScope } from '../../mirror/purge/scope.ts'
import { UserError } from '../../model/user-error.ts'
import type { Readers } from '../writer/maintenance.ts'
import type { DoPurgeTask, MirrorPurgeOrder, MirrorPurgeOutcome, PurgeTask, PurgeTasks } from './purge-orders.ts'
import type { DamagedArchive, PurgeReport } from '../../api/http/schemas/purge.ts'

export interface PurgingSetup {
  readonly dataDir: string
  readonly archiveDir: string
  readonly mirrorPath: string
}

export interface PurgingWorld {
  /** Reads all that is new in Cursor: what is not known yet cannot be kept out. */
  sync(): Promise<unknown>
  /** Asks the mirror's only writer. */
  mirror(order: MirrorPurgeOrder): Promise<MirrorPurgeOutcome>
  /** Runs something while nothing else works on the archives. */
  alone<Outcome>(act: () => Promise<Outcome>): Promise<Outcome>
  doTask: DoPurgeTask
  readonly readers: Readers
  /** Makes the readers of the mirror forget what they have cached. */
  renewReaders(): void
  /** Names of archives that were made, if their folder is missing. */
  outOfReach(): readonly string[]
  say(level: 'info' | 'warn', sentence: string): void
  /** Missing in a command: then the daemon's next start does what is left. */
  later?(act: () => void, delayMs: number): void
}

const LEFT = {
  nothing: null,
  'disk-full':
    'The rows are removed, but there is no room to rewrite the mirror’s file: it may contain bytes of them until there is room, or until you purge again.',
  reader:
    'The rows are removed, but another program reads the mirror: its write-ahead log may contain bytes of them. It is emptied later, or when you purge again.',
}
const RETRY_MS = 10 * 60_000
const HINT = 'Make sure that the archive folder can be written to, and purge again.'

/** Runs one purge at a time, from the request to the search of all files. */
export class Purging implements PurgeActs {
  readonly #setup: PurgingSetup
  readonly #world: PurgingWorld
  readonly #stop = new AbortController()
  #doing: string | null = null
  #isRetryPlanned = false

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
    return this.#alone('waiting for archives that are being made', async () => {
      if (!isDryRun) {
        this.#doing = 'reading what is new in Cursor first'
        await this.#world.sync()
      }
      const { report, archived } = await this.#plan(scope)
      return isDryRun ? report : this.#purge(scope, report, archived)
    })
  }

  /** Finishes purges that were interrupted. Call it when the mirror is sound. */
  async resume(): Promise<void> {
    if (this.#stop.signal.aborted) return
    if (this.#doing !== null) return this.#resumeLater()
    try {
      const { unfinished } = await this.#world.mirror({ act: 'resume' })
      if (!unfinished.archives && !unfinished.bytes) return
      // Another purge began in the meantime.
      if (this.#doing !== null) return this.#resumeLater()
      const left = await this.#alone('finishing a purge that was interrupted', async () => {
        if (unfinished.archives) await this.#rewriteArchives(null)
        return this.#compact()
      })
      if (left === null) return this.#world.say('info', 'An interrupted purge is finished.')
      this.#world.say('warn', left)
    } catch (error) {
      if (this.#stop.signal.aborted) return
      this.#world.say('warn', `An interrupted purge could not be finished: ${whyOf(error)} ${this.#whenAgain}`)
      this.#resumeLater()
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

  /** Plans one retry, however many purges have something left to do. */
  #resumeLater(): void {
    if (this.#isRetryPlanned) return
    this.#isRetryPlanned = true
    this.#world.later?.(() => {
      this.#isRetryPlanned = false
      void this.resume()
    }, RETRY_MS)
  }

  get #whenAgain(): string {
    const when = this.#world.later === undefined ? 'at the next start of the daemon' : 'in ten minutes'
    return `It is tried again ${when}.`
  }

  async #plan(scope: PurgeScope) {
    const { archiveDir: dir, mirrorPath } = this.#setup
    this.#doing = 'looking for what to remove'
    const { plan } = await this.#world.mirror({ act: 'plan', scope })
    if (plan === null) throw new Error('the writer sent no plan')
    this.#doing = 'searching the archives'
    const { wholeChatIds, ...planned } = plan
    const survey = await this.#do('survey', { dir, mirrorPath, scope, chatIds: wholeChatIds })
    const { objects, messages, runs, targets } = survey
    const report: PurgeReport = {
      ...planned,
      dryRun: true,
      unknownChats: plan.unknownChats.filter((id) => !survey.chatIds.includes(id)),
      archives: { objects, messages, runs, damaged: [...survey.damaged, ...this.#describeOutOfReach()] },
      left: null,
      check: null,
    }
    return { report, archived: targets }
  }

  #do<Task extends PurgeTask>(task: Task, order: PurgeTasks[Task]['order']): Promise<PurgeTasks[Task]['outcome']> {
    return this.#world.doTask(task, order, this.#stop.signal)
  }

  #describeOutOfReach(): readonly DamagedArchive[] {
    const why = `there is no archive in ${this.#setup.archiveDir}`
    return this.#world.outOfReach().map((name) => ({ kind: 'run', name, chatId: null, why }))
  }

  async #purge(
    scope: PurgeScope,
    planned: PurgeReport,
    archived: PurgeTasks['survey']['outcome']['targets'],
  ): Promise<PurgeReport> {
    try {
      this.#doing = 'removing rows and words from the mirror'
      const { setAside } = await this.#world.mirror({ act: 'remove', scope, archived })
      this.#world.renewReaders()
      this.#doing = 'rewriting the archives'
      const archives = await this.#rewriteArchives(scope.match).catch((error: unknown) => {
        throw halfDone(planned, error, this.#whenAgain)
      })
      this.#doing = 'rewriting the mirror’s file'
      const left = await this.#compact()
      this.#doing = 'searching all files for what was removed'
      const check = await this.#check(scope)
      const found = check === null ? '' : ` ${check.found.length} files still contain the text.`
      const { messages, chatCount, facts } = planned
      this.#world.say('info', `A purge removed ${messages} messages of ${chatCount} chats, and ${facts} facts.${found}`)
      return { ...planned, dryRun: false, setAside, archives, left, check }
    } catch (error) {
      // What was noted is removed later.
      this.#resumeLater()
      throw error
    }
  }

  async #rewriteArchives(match: string | null): Promise<PurgeReport['archives']> {
    const { archiveDir: dir, mirrorPath } = this.#setup
    const { objects, messages, runs, damaged } = await this.#do('rewrite', { dir, mirrorPath, match })
    await this.#world.mirror({ act: 'archived' })
    return { objects, messages, runs, damaged: [...damaged, ...this.#describeOutOfReach()] }
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
    if (left !== 'nothing') this.#resumeLater()
    return LEFT[left]
  }

  /** Other chats may contain the text if the purge was limited, so only a purge of a text alone is checked. */
  async #check(scope: PurgeScope): Promise<PurgeReport['check']> {
    if (!isOfText(scope) || scope.match === null) return null
    const { dataDir, archiveDir } = this.#setup
    return this.#do('search', { folders: [dataDir, archiveDir], match: scope.match })
  }
}

/** As a sentence. */
function whyOf(error: unknown): string {
  const why = error instanceof Error ? error.message : String(error)
  return /[.!?]$/.test(why) ? why : `${why}.`
}

function halfDone(
  { messages, chatCount, facts }: Pick<MirrorPlan, 'messages' | 'chatCount' | 'facts'>,
  cause: unknown,
  whenAgain: string,
): UserError {
  const done = `Half of the purge is done. ${messages} messages of ${chatCount} chats, and ${facts} facts, are removed from the mirror and stay out.`
  const left = 'The archives may still contain them, and so may unused parts of the mirror’s file'
  return new UserError('purge-half-done', `${done} ${left}: ${whyOf(cause)} ${whenAgain}`, HINT, { cause })
}
