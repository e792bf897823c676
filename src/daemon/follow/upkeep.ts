import { existsSync } from 'node:fs'
import type { Readers } from '../../engine/writer/maintenance.ts'
import type { UpkeepOutcome, UpkeepTask } from '../../engine/writer/messages.ts'
import type { Writer } from '../../engine/writer/writer.ts'
import type { UserError } from '../../model/user-error.ts'
import type { Logger } from '../lifecycle/log.ts'

const RETRY_MS = 30_000

const MOVED =
  'The mirror’s file was moved, removed, replaced or emptied while the daemon ran. It is being rebuilt from the file that is there now and from Cursor.'

export interface UpkeepContext {
  readonly log: Logger
  readonly writer: Pick<Writer, 'maintain'>
  readonly readers: Readers
  later(act: () => void, delayMs: number): void
  explain(error: unknown): UserError
  onBacklog(backlog: number): void
  /** Is called after a new mirror replaced a damaged one: all sources must be read again. */
  onReplaced(): void
}

/**
 * Checks the mirror before the first pass if the last end was not clean, and replaces it if it is damaged, or if an error
 * means damage.
 */
export class Upkeep {
  readonly #context: UpkeepContext
  #doing: string | null = null
  #error: UserError | null = null
  #notices: UpkeepOutcome['notices'] = []
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

  /** What happened to this mirror. Each sentence is shown as long as the damaged file exists. */
  get notices(): string[] {
    return this.#notices.filter(({ path }) => existsSync(path)).map(({ text }) => text)
  }

  /** Resolves when the mirror is sound. Further calls wait for what runs already. */
  untilSound(task: Exclude<UpkeepTask, 'look'>): Promise<void> {
    this.#running ??= this.#untilSound(task).finally(() => (this.#running = null))
    return this.#running
  }

  /** Checks that the open file is still the file at the mirror's path. Otherwise new rows would be lost. */
  async checkPlace(): Promise<void> {
    if (this.#running !== null || this.#isCheckingPlace) return
    this.#isCheckingPlace = true
    try {
      const { isDamaged } = await this.#context.writer.maintain('look')
      if (!isDamaged) return
      this.#context.log.error(MOVED)
      await this.untilSound('repair')
    } finally {
      this.#isCheckingPlace = false
    }
  }

  async #untilSound(first: UpkeepTask): Promise<void> {
    for (let task = first; ;) {
      try {
        const outcome = await this.#maintain(task)
        if (!outcome.isDamaged) {
          return this.#settle(outcome)
        }
        task = 'repair'
      } catch (error) {
        this.#error = this.#context.explain(error)
        if (this.#error.code === 'stopped') throw error
        this.#context.log.error({ code: this.#error.code }, `${this.#error.message} ${this.#error.hint}`)
        await new Promise<void>((resolve) => this.#context.later(resolve, RETRY_MS))
      }
    }
  }

  async #maintain(task: UpkeepTask): Promise<UpkeepOutcome> {
    const isReplacing = task === 'repair'
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

  #settle({ isReplaced, news, notices, backlog }: UpkeepOutcome): void {
    this.#error = null
    this.#notices = notices
    if (news !== null) this.#context.log.warn(news)
    this.#context.onBacklog(backlog)
    if (isReplaced) this.#context.onReplaced()
  }
}
