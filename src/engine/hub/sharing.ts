import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { HubActs, HubPushRequest } from '../../api/http/hub-shapes.ts'
import type { Progress } from '../../api/http/schemas/archives.ts'
import type { HubPulled, HubPushed, HubState } from '../../api/http/schemas/hub.ts'
import { toIso } from '../../api/iso.ts'
import type { PullPart } from '../../hub/pull.ts'
import { countStates } from '../../mirror/hub/ledger.ts'
import { listQueue, readMachine, readState, type PushingMachine } from '../../mirror/hub/own-side.ts'
import type { Mirror } from '../../mirror/open.ts'
import { UserError } from '../../model/user-error.ts'
import type { HubSettings } from '../../settings.ts'
import type { Executor, RunOptions } from '../executor/executor.ts'
import type { Passes } from '../passes.ts'
import type { Writer } from '../writer/writer.ts'

interface SharingWorld {
  readonly executor: Pick<Executor, 'run'>
  readonly writer: Pick<Writer, 'hub'>
  readonly passes: Pick<Passes, 'index'>
  mirror(): Mirror
}

type AtWork = NonNullable<HubState['atWork']>

/** The address of a hub without its password and options, for people. */
const shownUrl = (url: string): string => url.replace(/(\/\/[^:/@]*):[^@]*@/, '$1@').replace(/\?.*$/s, '')

/** The folder of downloaded objects, emptied before and after each pull. */
const SPOOL = 'hub-spool'
/** A pull goes on while another machine's copy has to be fetched instead. This ends one that would never end. */
const PARTS_MAX = 10_000
/** How many rows the writer takes at once. New messages are read in between. */
const TAKEN_AT_ONCE = 20
/** Names no project, for a push of purges only. */
const NO_PROJECTS = '\0'

/** Sends this mirror's chats to the hub, and fetches those of others, one at a time. */
export class Sharing implements HubActs {
  readonly #settings: HubSettings
  readonly #spool: string
  readonly #world: SharingWorld
  readonly #stop = new AbortController()
  #last: Promise<unknown> = Promise.resolve()
  #atWork: AtWork | null = null

  constructor(settings: HubSettings, dataDir: string, world: SharingWorld) {
    this.#settings = settings
    this.#spool = join(dataDir, SPOOL)
    this.#world = world
  }

  stop(): void {
    this.#stop.abort()
  }

  /** @param quietSinceMs chats that went on after this time wait, epoch milliseconds; null sends all at once */
  push(
    { projects = null, isDryRun = false }: Partial<HubPushRequest> = {},
    quietSinceMs: number | null = null,
  ): Promise<HubPushed> {
    return this.#inTurn('push', () => this.#push(projects ?? this.#settings.push.projects, isDryRun, quietSinceMs))
  }

  pull(projects: readonly string[] | null = null): Promise<HubPulled> {
    return this.#inTurn('pull', () => this.#pull(projects ?? this.#settings.pull.projects))
  }

  /** Tells the hub of purges that it does not know yet. Does nothing if there are none, or no hub. */
  async sendPurges(): Promise<void> {
    if (this.#settings.url === null || listQueue(this.#world.mirror()).length === 0) return
    await this.push({ projects: [NO_PROJECTS] })
  }

  async state(): Promise<HubState> {
    const { url, machine } = this.#settings
    const db = this.#world.mirror()
    const timeOf = (key: 'pushed' | 'pulled'): string | null => {
      const at = readState(db, key)
      return at === null ? null : toIso(Number(at))
    }
    const known = {
      url: url === null ? null : shownUrl(url),
      machine,
      atWork: this.#atWork,
      lastPushAt: timeOf('pushed'),
      lastPullAt: timeOf('pulled'),
      purgesWaiting: listQueue(db).length,
      rows: countStates(db),
    }
    if (url === null || this.#atWork !== null) return { ...known, error: null, hub: null }
    try {
      return { ...known, error: null, hub: await this.#world.executor.run('hub-describe', { url }, this.#options) }
    } catch (error) {
      if (!(error instanceof UserError) || !error.code.startsWith('hub-')) throw error
      return { ...known, error: { code: error.code, detail: `${error.message} ${error.hint}` }, hub: null }
    }
  }

  async #push(projects: readonly string[], isDryRun: boolean, quietSinceMs: number | null): Promise<HubPushed> {
    if (projects.length === 0) throw nothingNamed('push')
    const { push, machine: label } = this.#settings
    const before = this.#machine
    await this.#meet(!isDryRun)
    const machine = { ...this.#machine, label }
    const order = { url: this.#url, machine, projects, isRedacted: push.redact, isDryRun, quietSinceMs }
    const { purgesUpTo, ...result } = await this.#world.executor.run('hub-push', order, this.#options)
    if (!isDryRun) await this.#world.writer.hub({ act: 'end-push', purgesUpTo })
    return { ...result, notice: machine.uuid === before.uuid ? null : isNewMachine(before.uuid) }
  }

  async #pull(projects: readonly string[]): Promise<HubPulled> {
    if (projects.length === 0) throw nothingNamed('pull')
    const sum = { pulled: 0, removed: 0, unchanged: 0, bytes: 0 }
    let [added, backlog] = [0, 0]
    try {
      await this.#meet(false).catch(unlessRefused)
      for (let parts = 0, hasMore = true; hasMore && parts < PARTS_MAX; parts += 1) {
        const dir = this.#emptySpool()
        const order = { url: this.#url, uuid: this.#machine.uuid, projects, dir }
        const part = await this.#world.executor.run('hub-pull', order, this.#options)
        hasMore = part.hasMore
        for (const slice of slicesOf(part)) {
          const taken = await this.#world.writer.hub({ act: 'take', dir, part: slice, addedBefore: added })
          sum.pulled += taken.taken
          sum.removed += slice.gone.length
          added += taken.added
          backlog = taken.backlog
          hasMore ||= taken.wantsMore
        }
        sum.bytes += part.bytes
        sum.unchanged = part.unchanged
      }
      await this.#world.writer.hub({ act: 'end-pull' })
    } finally {
      rmSync(this.#spool, { recursive: true, force: true })
    }
    await this.#world.passes.index(backlog)
    return sum
  }

  /** The mirror learns what the hub knows of it. */
  async #meet(isPush: boolean): Promise<void> {
    const order = { url: this.#url, uuid: this.#machine.uuid, isRedacted: this.#settings.push.redact }
    const meeting = await this.#world.executor.run('hub-meet', order, this.#options)
    await this.#world.writer.hub({ act: 'meet', meeting, isPush })
  }

  get #machine(): PushingMachine {
    return readMachine(this.#world.mirror())
  }

  get #url(): string {
    const { url } = this.#settings
    if (url !== null) return url
    throw new UserError('hub-not-set', 'No hub is set.', 'Set hub.url, for example postgres://user@host/database', {
      exitCode: 2,
    })
  }

  get #options(): RunOptions {
    const onProgress = ({ done, total }: Progress): void => {
      if (this.#atWork !== null) this.#atWork = { act: this.#atWork.act, done, total }
    }
    return { signal: this.#stop.signal, onProgress }
  }

  #emptySpool(): string {
    rmSync(this.#spool, { recursive: true, force: true })
    mkdirSync(this.#spool, { mode: 0o700 })
    return this.#spool
  }

  #inTurn<Result>(act: AtWork['act'], work: () => Promise<Result>): Promise<Result> {
    const done = this.#last.then(async () => {
      this.#atWork = { act, done: 0, total: 0 }
      try {
        return await work()
      } finally {
        this.#atWork = null
      }
    })
    this.#last = done.catch(() => undefined)
    return done
  }
}

function* slicesOf({ rows, gone }: PullPart): Generator<Pick<PullPart, 'rows' | 'gone'>> {
  for (let at = 0; at < Math.max(rows.length, gone.length); at += TAKEN_AT_ONCE) {
    yield { rows: rows.slice(at, at + TAKEN_AT_ONCE), gone: gone.slice(at, at + TAKEN_AT_ONCE) }
  }
}

/** A role that lost its rights sees nothing, and its pulled copies go. */
function unlessRefused(error: unknown): void {
  if (!(error instanceof UserError) || error.code !== 'hub-rights') throw error
}

const isNewMachine = (former: string): string =>
  `This mirror was copied or put back, so it is a new machine at the hub. What it sent before: cursordex hub forget --machine ${former}`

const nothingNamed = (act: 'push' | 'pull'): UserError =>
  new UserError(
    'hub-no-projects',
    `Nothing to ${act} is named.`,
    `Name projects in hub.${act}.projects, or with --project; '*' is all.`,
    { exitCode: 2 },
  )
