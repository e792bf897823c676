import type { ArchiveSurvey, DamagedArchive } from '../../api/archives/purge/survey-archive.ts'
import type { PurgeActs, PurgeReport, PurgeRequest } from '../../api/http/purge-shapes.ts'
import { isOfText, type PurgeScope } from '../../mirror/purge/scope.ts'
import type { ChatId } from '../../model/ids.ts'
import { UserError } from '../../model/user-error.ts'
import type { Readers } from '../writer/maintenance.ts'
import type { DoPurgeTask, MirrorPlan, MirrorPurgeOrder, MirrorPurgeOutcome } from './purge-orders.ts'
import type { RawOutcome } from './byte-scan.ts'

export interface PurgingSetup {
  readonly dataDir: string
  readonly archiveDir: string
  readonly mirrorPath: string
}

export interface PurgingWorld {
  /** Reads all that is new: what is not known yet could not be kept out. */
  sync(): Promise<unknown>
  /** Asks the mirror's one writer. */
  mirror(order: MirrorPurgeOrder): Promise<MirrorPurgeOutcome>
  /** Does something while nobody else is at work on the archive. */
  alone<Outcome>(act: () => Promise<Outcome>): Promise<Outcome>
  doTask: DoPurgeTask
  readonly readers: Readers
  /** Has whoever reads the mirror forget what he remembers of it. */
  renewReaders(): void
  /** Takes a text out of what is remembered of archives. */
  forgetScopes(match: string): void
  /** Names of the archives that were made, where there is no folder of them to look through. */
  outOfReach(): readonly string[]
  say(level: 'info' | 'warn', sentence: string): void
  /** Not given to a command, which is gone by then: the daemon's next start does what is left. */
  later?(act: () => void, delayMs: number): void
}

const LEFT = {
  nothing: null,
  'disk-full':
    'The rows are gone, but there is no room to write the mirror’s file anew: bytes of them may be left in it. It is done when there is room, or when you purge again.',
  reader:
    'The rows are gone, but another program reads the mirror: bytes of them may be left in its write-ahead log. It is emptied later, or when you purge again.',
}
const RETRY_MS = 10 * 60_000
const IN_TEN_MINUTES = 'It is tried again in ten minutes.'
const AT_NEXT_START = 'It is tried again at the next start of the daemon.'

/** One purge at a time, from what is asked for to the search of every byte at its end. */
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
      throw new UserError('purge-busy', `A purge is at work already: ${this.#doing}.`, 'Ask again when it is done.')
    }
    this.#doing = 'waiting for archives that are being made'
    try {
      return await this.#world.alone(() => (isDryRun ? this.#look(scope) : this.#purge(scope)))
    } finally {
      this.#doing = null
    }
  }

  /** Ends what was begun and cut short. To be called once the mirror is sound. */
  async resume(): Promise<void> {
    if (this.#doing !== null || this.#stop.signal.aborted) return
    try {
      const { unfinished } = await this.#world.mirror({ act: 'resume' })
      if (!unfinished.archives && !unfinished.bytes) return
      // Another began meanwhile.
      if (this.#doing !== null) return this.#resumeLater()
      await this.#end(unfinished)
    } catch (error) {
      if (this.#stop.signal.aborted) return
      this.#world.say('warn', `A purge that was cut short could not be ended: ${whyOf(error)} ${this.#whenAgain}`)
      this.#resumeLater()
    }
  }

  async #end({ archives }: MirrorPurgeOutcome['unfinished']): Promise<void> {
    this.#doing = 'ending a purge that was cut short'
    try {
      const left = await this.#world.alone(async () => {
        if (archives) await this.#rewriteArchives(null)
        return this.#compact()
      })
      if (left === 'nothing') return this.#world.say('info', 'A purge that was cut short is done.')
      this.#world.say('warn', LEFT[left] ?? '')
      this.#resumeLater()
    } finally {
      this.#doing = null
    }
  }

  /** Once, however many purges leave something to be done. */
  #resumeLater(): void {
    if (this.#isRetryPlanned) return
    this.#isRetryPlanned = true
    this.#world.later?.(() => {
      this.#isRetryPlanned = false
      if (this.#doing === null) void this.resume()
      else this.#resumeLater()
    }, RETRY_MS)
  }

  get #whenAgain(): string {
    return this.#world.later === undefined ? AT_NEXT_START : IN_TEN_MINUTES
  }

  async #look(scope: PurgeScope): Promise<PurgeReport> {
    const { plan, survey } = await this.#plan(scope)
    const { objects, messages, runs } = survey
    const damaged = [...survey.damaged, ...this.#tellOutOfReach()]
    return { ...told(plan, survey), archives: { objects, messages, runs, damaged }, left: null, check: null }
  }

  async #plan(scope: PurgeScope): Promise<{ plan: MirrorPlan; survey: ArchiveSurvey }> {
    const { archiveDir: dir, mirrorPath } = this.#setup
    const plan = await this.#planMirror(scope, [])
    this.#doing = 'looking through the archives'
    const order = { dir, mirrorPath, scope, chatIds: plan.wholeChatIds }
    const survey = await this.#world.doTask('survey', order, this.#stop.signal)
    const { goingOn } = survey.targets
    return { plan: goingOn.length === 0 ? plan : await this.#planMirror(scope, goingOn), survey }
  }

  #tellOutOfReach(): readonly DamagedArchive[] {
    const why = `there is no archive in ${this.#setup.archiveDir}`
    return this.#world.outOfReach().map((name) => ({ kind: 'run', name, chatId: null, why }))
  }

  async #planMirror(scope: PurgeScope, goingOn: readonly ChatId[]): Promise<MirrorPlan> {
    this.#doing = 'looking for what is to go'
    const { plan } = await this.#world.mirror({ act: 'plan', scope, goingOn })
    if (plan === null) throw new Error('a plan was not told')
    return plan
  }

  async #purge(scope: PurgeScope): Promise<PurgeReport> {
    this.#doing = 'reading what is new in Cursor first'
    await this.#world.sync()
    const { plan, survey } = await this.#plan(scope)
    const struck = await this.#strikeScopes(scope.match)
    this.#doing = 'removing rows and words from the mirror'
    const removed = await this.#remove(scope, survey)
    this.#world.renewReaders()
    this.#doing = 'rewriting the archives'
    const rewritten = await this.#orSayHalf(plan, () => this.#rewriteArchives(scope.match))
    const { objects, messages } = rewritten
    const damaged = [...rewritten.damaged, ...this.#tellOutOfReach()]
    const runs = [...new Set([...struck, ...rewritten.runs])].toSorted()
    this.#doing = 'writing the mirror’s file anew'
    const left = await this.#compact()
    if (left !== 'nothing') this.#resumeLater()
    this.#doing = 'searching every byte for what is gone'
    const check = await this.#search(scope, removed)
    const done = { ...told(plan, survey), dryRun: false, setAside: removed.setAside }
    const { facts, chatCount } = plan
    this.#world.say(
      'info',
      `A purge removed ${plan.messages} messages of ${chatCount} chats, and ${facts} facts; ${check.found.length} places hold something of it still.`,
    )
    return { ...done, archives: { objects, messages, runs, damaged }, left: LEFT[left], check }
  }

  /**
   * Before anything is noted that will be removed whatever happens: who ends a purge that was cut short does not know the
   * words. @returns the names of the runs that were asked for by them
   */
  async #strikeScopes(match: string | null): Promise<readonly string[]> {
    if (match === null) return []
    this.#doing = 'striking the text out of what archives were asked for'
    this.#world.forgetScopes(match)
    try {
      return await this.#world.doTask('strike', { dir: this.#setup.archiveDir, match }, this.#stop.signal)
    } catch (error) {
      if (error instanceof UserError && error.code === 'archive-busy') throw error
      throw nothingDone(error)
    }
  }

  /** What is removed stays so: whoever asked is told that it is, and what is not. */
  async #orSayHalf<Outcome>(plan: MirrorPlan, act: () => Promise<Outcome>): Promise<Outcome> {
    try {
      return await act()
    } catch (error) {
      this.#resumeLater()
      throw halfDone(plan, error, this.#whenAgain)
    }
  }

  async #remove(scope: PurgeScope, { targets: archived }: ArchiveSurvey): Promise<MirrorPurgeOutcome> {
    try {
      return await this.#world.mirror({ act: 'remove', scope, archived })
    } catch (error) {
      // What was noted is removed, if not now.
      this.#resumeLater()
      throw error
    }
  }

  async #rewriteArchives(match: string | null) {
    const { archiveDir: dir, mirrorPath } = this.#setup
    const rewritten = await this.#world.doTask('rewrite', { dir, mirrorPath, match }, this.#stop.signal)
    await this.#world.mirror({ act: 'archived' })
    return rewritten
  }

  async #compact(): Promise<MirrorPurgeOutcome['left']> {
    const { left } = await this.#world.mirror({ act: 'compact' })
    if (left !== 'reader') return left
    this.#world.readers.shut()
    try {
      return (await this.#world.mirror({ act: 'compact' })).left
    } finally {
      this.#world.readers.reopen()
    }
  }

  async #search(scope: PurgeScope, { terms, pieces }: MirrorPurgeOutcome): Promise<NonNullable<PurgeReport['check']>> {
    const { dataDir, archiveDir } = this.#setup
    // What stays of other chats, or of another time, may hold the text still.
    const match = isOfText(scope) ? scope.match : null
    const order = { folders: [dataDir, archiveDir], match, terms, pieces }
    const outcome = await this.#world.doTask('search', order, this.#stop.signal)
    const { files, bytes, unread } = outcome
    const found = await this.#withoutHeld(outcome)
    return { files, bytes, found: found.map(({ file, times, at }) => ({ file, times, at })), unread }
  }

  /** Of pieces of messages those count that nothing holds which is left. */
  async #withoutHeld({ found }: RawOutcome): Promise<RawOutcome['found']> {
    const pieces = [...new Set(found.flatMap(({ piece }) => piece ?? []))]
    if (pieces.length === 0) return found
    const held = new Set((await this.#world.mirror({ act: 'held', pieces })).pieces)
    return found.filter(({ piece }) => piece === null || !held.has(piece))
  }
}

const told = (plan: MirrorPlan, { chatIds }: ArchiveSurvey) => ({
  dryRun: true,
  chats: plan.chats,
  chatCount: plan.chatCount,
  messages: plan.messages,
  inCursor: plan.inCursor,
  facts: plan.facts,
  unknownChats: plan.unknownChats.filter((id) => !chatIds.includes(id)),
  setAside: plan.setAside,
})

/** As a sentence. */
function whyOf(error: unknown): string {
  const why = error instanceof Error ? error.message : String(error)
  return /[.!?]$/.test(why) ? why : `${why}.`
}

const HINT = 'See to it that the archive folder can be written to, and purge again.'

const nothingDone = (cause: unknown): UserError =>
  new UserError(
    'purge-undone',
    `Nothing was removed: archives that were asked for by the text cannot be written anew. ${whyOf(cause)}`,
    HINT,
    { cause },
  )

function halfDone({ messages, chatCount, facts }: MirrorPlan, cause: unknown, whenAgain: string): UserError {
  const done = `Half of it is done. ${messages} messages of ${chatCount} chats, and ${facts} facts, are removed from the mirror and stay out.`
  const left = 'The archives may hold them still, and so may unused places of the mirror’s file'
  return new UserError('purge-half-done', `${done} ${left}: ${whyOf(cause)} ${whenAgain}`, HINT, { cause })
}
