import type { HubActs, HubPulled, HubPushed, HubPushRequest, HubState } from '../../api/answers/hub.ts'
import { toIso } from '../../api/queries/rows.ts'
import { hubNotSet, unlessRefused } from '../../hub/explain-error.ts'
import type { PullPart } from '../../hub/pull.ts'
import { countDamaged } from '../../mirror/hub/hub.ts'
import { listQueue, readMachine, readState, type PushingMachine } from '../../mirror/hub/hub.ts'
import { UserError } from '../../model/user-error.ts'
import type { HubSettings } from '../../settings.ts'
import { Turns } from '../deferred.ts'
import type { EngineContext } from '../engine.ts'
import { dueJobs, type DueJob } from '../due-jobs.ts'

type SharingWorld = Pick<EngineContext, 'mirror' | 'executor' | 'writer'> & {
  readonly index: Pick<EngineContext['index'], 'follow' | 'forgetWords'>
}

type AtWork = NonNullable<HubState['atWork']>

/** The address of a hub without its password and options, for people. */
export const shownUrl = (url: string): string => url.replace(/(\/\/[^:/@]*):[^@]*@/, '$1@').replace(/\?.*$/s, '')

/** How many rows the writer takes at once. New messages are read in between. */
const TAKEN_AT_ONCE = 20

/** Sends this mirror's chats to the hub, and fetches those of others, one at a time. */
export class Sharing implements HubActs {
  readonly #settings: HubSettings
  readonly #world: SharingWorld
  readonly #turns = new Turns()
  #atWork: AtWork | null = null

  constructor(settings: HubSettings, world: SharingWorld) {
    this.#settings = settings
    this.#world = world
  }

  async push({ projects = null, isDryRun = false }: Partial<HubPushRequest> = {}): Promise<HubPushed> {
    const named = someOf('push', projects ?? this.#settings.push.projects)
    return this.#inTurn('push', () => this.#push(named, projects !== null, isDryRun))
  }

  async pull(projects: readonly string[] | null = null): Promise<HubPulled> {
    const named = someOf('pull', projects ?? this.#settings.pull.projects)
    return this.#inTurn('pull', () => this.#pull(named))
  }

  /** Tells the hub of purges that it does not know yet. Does nothing if there are none, or no hub. */
  async sendPurges(): Promise<void> {
    if (this.#settings.url === null || listQueue(this.#world.mirror()).length === 0) return
    await this.#inTurn('push', () => this.#push([], false, false))
  }

  async state(): Promise<HubState> {
    const { url, machine } = this.#settings
    const db = this.#world.mirror()
    const known = {
      url: url === null ? null : shownUrl(url),
      machine,
      atWork: this.#atWork,
      lastPushAt: toIso(Number(readState(db, 'pushed')) || null),
      lastPullAt: toIso(Number(readState(db, 'pulled')) || null),
      purgesWaiting: listQueue(db).length,
      damaged: countDamaged(db),
      error: null,
      hub: null,
    }
    if (url === null || this.#atWork !== null) return known
    try {
      const order = { url, uuid: this.#machine.uuid, projects: this.#settings.push.projects }
      return { ...known, hub: await this.#world.executor.run('hub-describe', order) }
    } catch (error) {
      if (!(error instanceof UserError) || !error.code.startsWith('hub-')) throw error
      return { ...known, error: { code: error.code, detail: `${error.message} ${error.hint}` } }
    }
  }

  async #push(projects: readonly string[], isNamed: boolean, isDryRun: boolean): Promise<HubPushed> {
    const { push, machine: label } = this.#settings
    const before = this.#machine
    await this.#meet(!isDryRun)
    const machine = { ...this.#machine, label }
    const order = { url: this.#url, machine, projects, isNamed, isRedacted: push.redact, isDryRun }
    const { purgesUpTo, ...result } = await this.#world.executor.run('hub-push', order, ({ done, total }) =>
      this.#report('push', done, total),
    )
    if (!isDryRun) await this.#world.writer.act('hub', { act: 'end-push', purgesUpTo })
    return { ...result, notice: machine.uuid === before.uuid ? null : isNewMachine(before.uuid) }
  }

  async #pull(projects: readonly string[]): Promise<HubPulled> {
    const { executor, writer, index } = this.#world
    const sum = { pulled: 0, removed: 0, unchanged: 0, bytes: 0 }
    await this.#meet(false).catch(unlessRefused)
    for (let [isFirst, hasMore] = [true, true]; hasMore; isFirst = false) {
      const order = { url: this.#url, uuid: this.#machine.uuid, projects }
      const part = await executor.run('hub-pull', order)
      if (isFirst) sum.unchanged = part.unchanged
      // If none could be fetched, they changed meanwhile: the next pull has them.
      hasMore = part.rows.length > 0 && part.missing > part.rows.length
      for (const slice of slicesOf(part)) {
        const { taken, wantsMore } = await writer.act('hub', { act: 'take', ...slice })
        sum.pulled += taken
        sum.removed += slice.gone.length
        // Another machine's copy has to be fetched instead.
        hasMore ||= wantsMore
      }
      sum.bytes += part.bytes
      this.#report('pull', sum.pulled, sum.pulled + part.missing - part.rows.length)
    }
    // Words of copies that are gone stay in the index until it is merged.
    if (readState(this.#world.mirror(), 'words') === '1') await index.forgetWords()
    await writer.act('hub', { act: 'end-pull' })
    await index.follow()
    return sum
  }

  /** The mirror learns what the hub knows of it. */
  async #meet(isPush: boolean): Promise<void> {
    const order = { url: this.#url, uuid: this.#machine.uuid, isRedacted: this.#settings.push.redact }
    const meeting = await this.#world.executor.run('hub-meet', order)
    await this.#world.writer.act('hub', { act: 'meet', meeting, isPush })
  }

  get #machine(): PushingMachine {
    return readMachine(this.#world.mirror())
  }

  get #url(): string {
    const { url } = this.#settings
    if (url === null) throw hubNotSet()
    return url
  }

  #report(act: AtWork['act'], done: number, total: number): void {
    this.#atWork = { act, done, total }
  }

  #inTurn<Result>(act: AtWork['act'], work: () => Promise<Result>): Promise<Result> {
    return this.#turns.run(async () => {
      this.#report(act, 0, 0)
      try {
        return await work()
      } finally {
        this.#atWork = null
      }
    })
  }
}

function* slicesOf({ rows, gone }: PullPart): Generator<Pick<PullPart, 'rows' | 'gone'>> {
  for (let at = 0; at < Math.max(rows.length, gone.length); at += TAKEN_AT_ONCE) {
    yield { rows: rows.slice(at, at + TAKEN_AT_ONCE), gone: gone.slice(at, at + TAKEN_AT_ONCE) }
  }
}

const isNewMachine = (former: string): string =>
  `This mirror was copied or put back, so it is a new machine at the hub. What it sent before: cursordex hub forget --machine ${former}`

function someOf(act: AtWork['act'], projects: readonly string[]): readonly string[] {
  if (projects.length > 0) return projects
  const hint = `Name projects in hub.${act}.projects, or with --project; '*' is all.`
  throw new UserError('hub-no-projects', `Nothing to ${act} is named.`, hint, { exitCode: 2 })
}

/** Machines with the same schedule do not all come in the same second. */
const JITTER_MS = 50_000
const FIRST_PAUSE_MS = 2 * 60_000

/**
 * Pushes and pulls when they are due, first at the start. While the hub does not answer, the pauses grow.
 * @returns tick: must be called every minute. listReasons: why the hub is not up to date, as sentences
 */
export function hubSchedule(
  settings: HubSettings,
  sharing: Pick<Sharing, 'push' | 'pull'>,
  { log, onError, later, ...clock }: Pick<EngineContext, 'now' | 'zone' | 'onError' | 'later' | 'log'>,
) {
  /** Why each of them failed the last time. */
  const errors = new Map<string, UserError>()
  const run = async (act: 'push' | 'pull'): Promise<void> => {
    await new Promise<void>((resume) => later?.(resume, Math.random() * JITTER_MS))
    try {
      const done = await (act === 'pull' ? sharing.pull() : sharing.push())
      if ('notice' in done && done.notice !== null) log('warn', done.notice)
      if (errors.delete(act)) log('info', 'The hub answers again.')
    } catch (error) {
      onError?.(error)
      const known = error instanceof UserError ? error : new UserError('hub-failed', String(error), '')
      const isSaid = known.code === 'stopped' || errors.get(act)?.message === known.message
      if (!isSaid) log('warn', `${known.message} ${known.hint}`)
      errors.set(act, known)
      throw known
    }
  }
  const acts = (['push', 'pull'] as const).filter((act) => settings.url !== null && settings[act].projects.length > 0)
  const jobs = acts.map((name): DueJob => {
    const { schedule } = settings[name]
    return { name, schedule, timezone: null, firstPauseMs: FIRST_PAUSE_MS, run: () => run(name) }
  })
  const dueNow = { timeZone: clock.zone(), dueAtMs: 0, failures: 0, error: null }
  const notes = Object.fromEntries(jobs.map(({ name, schedule }) => [name, { ...dueNow, schedule }]))
  return {
    ...dueJobs(jobs, notes, clock),
    listReasons: () => [...new Set([...errors.values()].map(({ code, message }) => `${code}: ${message}`))],
  }
}
