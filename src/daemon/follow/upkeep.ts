import { existsSync } from 'node:fs'
import type { Damage } from '../../mirror/maintenance/check-pages.ts'
import type { UserError } from '../../model/user-error.ts'
import type { Writer } from '../../engine/writer/writer.ts'
import type { UpkeepOutcome, UpkeepTask } from '../../engine/writer/messages.ts'
import type { Readers } from '../../engine/writer/maintenance.ts'
import type { Logger } from '../lifecycle/log.ts'

/** How often the full-text tables are compared with the messages. */
const TERMS_CHECK_MS = 7 * 24 * 3_600_000
const RETRY_MS = 30_000

const MOVED =
  'The mirror’s file was moved, removed, replaced or emptied while the daemon ran. It is made anew, of what lies there now and of what Cursor holds.'

export interface UpkeepWorld {
  readonly log: Logger
  readonly writer: Pick<Writer, 'keep'>
  readonly readers: Readers
  now(): number
  later(act: () => void, delayMs: number): void
  explain(error: unknown): UserError
  /** Whether the full-text tables hold together, found out without holding up anything. */
  checkTerms(): Promise<boolean>
  onBacklog(backlog: number): void
  /** A new mirror took the place of a damaged one: all sources are to be read. */
  onMade(): void
}

/**
 * Keeps the mirror sound: its pages are checked before the first pass, its full-text tables every week, and both when
 * something failed in a way that says that the file is wrong. What can be mended in place is; else the mirror is set
 * aside and made anew.
 */
export class Upkeep {
  readonly #world: UpkeepWorld
  #doing: string | null = null
  #trouble: UserError | null = null
  #notices: UpkeepOutcome['notices'] = []
  #termsCheckedAtMs: number | null = null
  #running: Promise<void> | null = null
  #isLooking = false

  constructor(world: UpkeepWorld) {
    this.#world = world
  }

  /** What keeps passes from being run now, in words for a person. */
  get doing(): string[] {
    return this.#doing === null ? [] : [this.#doing]
  }

  get trouble(): UserError | null {
    return this.#trouble
  }

  /** What happened to this mirror, as long as the file that was set aside lies where it was put. */
  get notices(): string[] {
    return this.#notices.filter(({ path }) => existsSync(path)).map(({ text }) => text)
  }

  /** Resolves when the mirror is sound. Asked again meanwhile, it is the same check. */
  check(suspected: Damage = 'none'): Promise<void> {
    this.#running ??= this.#untilSound({ task: 'check', suspected }).finally(() => (this.#running = null))
    return this.#running
  }

  /** To be asked now and then; does something once a week. */
  async checkTermsIfDue(): Promise<void> {
    const sinceMs = this.#world.now() - (this.#termsCheckedAtMs ?? 0)
    // Less than none where the clock was set back: nobody waits until the old time comes again.
    if (this.#running !== null || (sinceMs >= 0 && sinceMs < TERMS_CHECK_MS)) return
    const isSound = await this.#world.checkTerms()
    this.#running ??= this.#untilSound({ task: 'check-terms', suspected: isSound ? 'none' : 'terms' }).finally(
      () => (this.#running = null),
    )
    await this.#running
  }

  /** To be asked now and then: whether the mirror's file is the one that is written to. Elsewhere it would be lost. */
  async lookAtPlace(): Promise<void> {
    if (this.#running !== null || this.#isLooking) return
    this.#isLooking = true
    try {
      const { damage } = await this.#world.writer.keep({ task: 'look', suspected: 'none' })
      if (damage === 'none') return
      this.#world.log.error(MOVED)
      await this.check()
    } finally {
      this.#isLooking = false
    }
  }

  async #untilSound(first: UpkeepTask): Promise<void> {
    let isMade = false
    for (let task: UpkeepTask = first; ;) {
      try {
        const outcome = await this.#keep(task)
        if (outcome.damage !== 'rows') {
          this.#settle(outcome)
          if (isMade) this.#world.onMade()
          return
        }
        isMade = true
        task = { task: 'set-aside', suspected: 'none' }
      } catch (error) {
        this.#trouble = this.#world.explain(error)
        if (this.#trouble.code === 'stopped') throw error
        this.#world.log.error({ code: this.#trouble.code }, `${this.#trouble.message} ${this.#trouble.hint}`)
        await new Promise<void>((resolve) => this.#world.later(resolve, RETRY_MS))
        // What was set aside is found again.
        task = { task: 'check', suspected: 'none' }
      }
    }
  }

  async #keep(task: UpkeepTask): Promise<UpkeepOutcome> {
    const isSwap = task.task === 'set-aside'
    this.#doing = isSwap
      ? 'salvage: the mirror is damaged; a new one is being made of all that can be saved'
      : 'check: the mirror is being checked for damage'
    if (isSwap) this.#world.readers.shut()
    try {
      return await this.#world.writer.keep(task)
    } finally {
      if (isSwap) this.#world.readers.reopen()
      this.#doing = null
    }
  }

  #settle({ news, notices, backlog, termsCheckedAtMs }: UpkeepOutcome): void {
    this.#trouble = null
    this.#notices = notices
    this.#termsCheckedAtMs = termsCheckedAtMs
    for (const sentence of news) this.#world.log.warn(sentence)
    this.#world.onBacklog(backlog)
  }
}
