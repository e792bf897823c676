import { existsSync } from 'node:fs'
import type { PartsCheck } from '../../mirror/maintenance/check-in-parts.ts'
import type { Damage } from '../../mirror/maintenance/check-pages.ts'
import type { UserError } from '../../model/user-error.ts'
import type { Writer } from '../../engine/writer/writer.ts'
import type { UpkeepOutcome, UpkeepTask } from '../../engine/writer/messages.ts'
import type { Readers } from '../../engine/writer/maintenance.ts'
import type { Logger } from '../lifecycle/log.ts'

/** How often the full-text tables are compared with the messages. */
const TERMS_CHECK_MS = 7 * 24 * 3_600_000
/** How often to look whether pages must be checked. Each part of the mirror is checked once a day. */
const PAGES_CHECK_MS = 3_600_000
const RETRY_MS = 30_000

const MOVED =
  'The mirror’s file was moved, removed, replaced or emptied while the daemon ran. It is being rebuilt from the file that is there now and from Cursor.'

export interface UpkeepContext {
  readonly log: Logger
  readonly writer: Pick<Writer, 'maintain' | 'noteChecked'>
  readonly readers: Readers
  now(): number
  later(act: () => void, delayMs: number): void
  explain(error: unknown): UserError
  /** Returns true if the full-text tables are sound. The check blocks nothing. */
  checkTerms(): Promise<boolean>
  /** Checks some pages. It blocks nothing. */
  checkPages(): Promise<PartsCheck>
  onBacklog(backlog: number): void
  /** Is called after a new mirror replaced a damaged one: all sources must be read again. */
  onReplaced(): void
}

/**
 * Checks and repairs the mirror: its pages before the first pass if the last end was not clean, and otherwise in parts while
 * nothing else happens; its full-text tables every week; and both after an error that means damage. Some damage is
 * repaired in place. Otherwise the mirror is set aside and a new one is created.
 */
export class Upkeep {
  readonly #context: UpkeepContext
  #doing: string | null = null
  #error: UserError | null = null
  #notices: UpkeepOutcome['notices'] = []
  #termsCheckedAtMs: number | null = null
  #pagesCheckedAtMs: number | null = null
  #running: Promise<void> | null = null
  #isCheckingPlace = false

  constructor(context: UpkeepContext) {
    this.#context = context
  }

  /** Why no pass can run now, as sentences. */
  get doing(): string[] {
    return this.#doing === null ? [] : [this.#doing]
  }

  get error(): UserError | null {
    return this.#error
  }

  /** What happened to this mirror. Each sentence is shown as long as the file that was set aside exists. */
  get notices(): string[] {
    return this.#notices.filter(({ path }) => existsSync(path)).map(({ text }) => text)
  }

  /** Resolves when passes may begin: at once after a clean end, otherwise when the mirror is sound. */
  begin(): Promise<void> {
    this.#running ??= this.#untilSound({ task: 'start', suspected: 'none' }).finally(() => (this.#running = null))
    return this.#running
  }

  /** Resolves when the mirror is sound. Further calls during a check wait for the same check. */
  check(suspected: Damage = 'none'): Promise<void> {
    this.#running ??= this.#untilSound({ task: 'check', suspected }).finally(() => (this.#running = null))
    return this.#running
  }

  /** May be called at any time. Checks once a week. */
  async checkTermsIfDue(): Promise<void> {
    if (this.#running !== null || this.#isWithin(TERMS_CHECK_MS, this.#termsCheckedAtMs)) return
    const isSound = await this.#context.checkTerms()
    this.#running ??= this.#untilSound({ task: 'check-terms', suspected: isSound ? 'none' : 'terms' }).finally(
      () => (this.#running = null),
    )
    await this.#running
  }

  /** May be called at any time. Checks one part after the other, as long as nothing else happens. */
  async checkPagesIfDue(isFree: () => boolean): Promise<void> {
    if (this.#isWithin(PAGES_CHECK_MS, this.#pagesCheckedAtMs)) return
    while (this.#running === null && isFree()) {
      const { sound, damage, hasMore } = await this.#context.checkPages()
      // The whole mirror is checked again before it is set aside.
      if (damage !== 'none') return this.check()
      if (sound.length > 0) await this.#context.writer.noteChecked(sound)
      if (hasMore) continue
      this.#pagesCheckedAtMs = this.#context.now()
      return
    }
  }

  /** The time since is negative if the clock was set back. A check must not wait until the old time comes again. */
  #isWithin(periodMs: number, doneAtMs: number | null): boolean {
    const sinceMs = this.#context.now() - (doneAtMs ?? 0)
    return sinceMs >= 0 && sinceMs < periodMs
  }

  /** Checks that the open file is still the file at the mirror's path. Otherwise new rows would be lost. */
  async checkPlace(): Promise<void> {
    if (this.#running !== null || this.#isCheckingPlace) return
    this.#isCheckingPlace = true
    try {
      const { damage } = await this.#context.writer.maintain({ task: 'look', suspected: 'none' })
      if (damage === 'none') return
      this.#context.log.error(MOVED)
      await this.check()
    } finally {
      this.#isCheckingPlace = false
    }
  }

  async #untilSound(first: UpkeepTask): Promise<void> {
    let isReplaced = false
    for (let task: UpkeepTask = first; ;) {
      try {
        const outcome = await this.#maintain(task)
        if (outcome.damage !== 'rows') {
          this.#settle(outcome)
          if (isReplaced) this.#context.onReplaced()
          return
        }
        isReplaced = true
        task = { task: 'set-aside', suspected: 'none' }
      } catch (error) {
        this.#error = this.#context.explain(error)
        if (this.#error.code === 'stopped') throw error
        this.#context.log.error({ code: this.#error.code }, `${this.#error.message} ${this.#error.hint}`)
        await new Promise<void>((resolve) => this.#context.later(resolve, RETRY_MS))
        // The check finds a mirror that was already set aside.
        task = { task: 'check', suspected: 'none' }
      }
    }
  }

  async #maintain(task: UpkeepTask): Promise<UpkeepOutcome> {
    const isReplacing = task.task === 'set-aside'
    this.#doing = isReplacing
      ? 'salvage: the mirror is damaged, and a new one is being created from everything that can be saved'
      : 'check: the mirror is being checked for damage'
    if (isReplacing) this.#context.readers.shut()
    try {
      return await this.#context.writer.maintain(task)
    } finally {
      if (isReplacing) this.#context.readers.reopen()
      this.#doing = null
    }
  }

  #settle({ news, notices, backlog, termsCheckedAtMs }: UpkeepOutcome): void {
    this.#error = null
    this.#notices = notices
    this.#termsCheckedAtMs = termsCheckedAtMs
    for (const sentence of news) this.#context.log.warn(sentence)
    this.#context.onBacklog(backlog)
  }
}
