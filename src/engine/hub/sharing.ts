import { randomBytes } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { HubActs, HubPushRequest } from '../../api/http/hub-shapes.ts'
import type { Progress } from '../../api/http/schemas/archives.ts'
import type { HubPulled, HubPushed, HubState } from '../../api/http/schemas/hub.ts'
import { toIso } from '../../api/iso.ts'
import { readIdentity } from '../../api/queries/archived/archived-chat.ts'
import { shownUrl } from '../../hub/shown-url.ts'
import type { OwnMachine } from '../../hub/own-machine.ts'
import type { PullPart } from '../../hub/pull.ts'
import { countStates } from '../../mirror/hub/ledger.ts'
import { listQueue, readState } from '../../mirror/hub/own-side.ts'
import type { Mirror } from '../../mirror/open.ts'
import { UserError } from '../../model/user-error.ts'
import type { HubSettings } from '../../settings.ts'
import type { Executor } from '../executor/executor.ts'
import type { HubInput, HubTask, HubTasks } from '../jobs/hub.ts'
import type { Passes } from '../passes.ts'
import type { Writer } from '../writer/writer.ts'

export interface SharingWorld {
  readonly executor: Pick<Executor, 'run'>
  readonly writer: Pick<Writer, 'hub'>
  readonly passes: Pick<Passes, 'index'>
  mirror(): Mirror
}

/** A push of the schedule leaves chats alone that still go on. */
export interface Patience {
  /** Chats that went on after this time wait. Epoch milliseconds; null sends all at once. */
  readonly quietSinceMs: number | null
  /** Chats that have waited long enough. */
  readonly due: readonly string[]
}

type AtWork = NonNullable<HubState['atWork']>

/** The folder of downloaded objects, emptied before and after each pull. */
const SPOOL = 'hub-spool'
/** How many rows the writer takes at once. New messages are read in between. */
const TAKEN_AT_ONCE = 20
/** A pull goes on while another machine's copy has to be fetched instead. This ends one that would never end. */
const PARTS_MAX = 10_000
/** Names no project, for a push of purges only. */
const NO_PROJECTS = '\0'

const atOnce: Patience = { quietSinceMs: null, due: [] }
const plainly = { projects: null, isDryRun: false, rename: null, takesOver: null }

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

  push(request: Partial<HubPushRequest> = {}, patience = atOnce): Promise<HubPushed> {
    return this.#inTurn('push', () => this.#push({ ...plainly, ...request }, patience))
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
      return { ...known, error: null, hub: await this.#do('describe', null) }
    } catch (error) {
      if (!(error instanceof UserError) || !error.code.startsWith('hub-')) throw error
      return { ...known, error: { code: error.code, detail: `${error.message} ${error.hint}` }, hub: null }
    }
  }

  async #push({ projects, isDryRun, rename, takesOver }: HubPushRequest, patience: Patience): Promise<HubPushed> {
    const { push, machine: label } = this.#settings
    const named = projects ?? push.projects
    if (named.length === 0) throw nothingNamed('push')
    const uuid = readIdentity(this.#world.mirror())
    const machine = { uuid, label, value: randomBytes(16).toString('hex') }
    await this.#meet(uuid, isDryRun ? null : machine.value)
    if (rename !== null && !isDryRun) await this.#rename(rename)
    if (takesOver !== null && !isDryRun) await this.#takeOver(takesOver, machine)
    const order = { machine, projects: named, isRedacted: push.redact, isDryRun, ...patience }
    const { purgesUpTo, ...result } = await this.#do('push', order)
    if (!isDryRun) await this.#world.writer.hub({ act: 'sent', purgesUpTo })
    return result
  }

  async #rename({ from, to }: NonNullable<HubPushRequest['rename']>): Promise<void> {
    const { taken } = await this.#world.writer.hub({ act: 'rename', former: from, name: to })
    if (taken > 0) return
    throw new UserError('hub-no-project', `No project of this machine is named ${from}.`, 'cursordex hub status', {
      exitCode: 2,
    })
  }

  async #takeOver(lost: string, machine: OwnMachine): Promise<void> {
    try {
      const dir = this.#emptySpool()
      const legacy = await this.#do('legacy', { machine: lost, dir })
      const { backlog } = await this.#world.writer.hub({ act: 'adopt', dir, legacy })
      await this.#do('take-over', { machine, lost: legacy.machine })
      await this.#world.passes.index(backlog)
    } finally {
      rmSync(this.#spool, { recursive: true, force: true })
    }
  }

  async #pull(projects: readonly string[]): Promise<HubPulled> {
    if (projects.length === 0) throw nothingNamed('pull')
    const uuid = readIdentity(this.#world.mirror())
    const sum = { pulled: 0, removed: 0, unchanged: 0, bytes: 0, added: 0, backlog: 0 }
    try {
      await this.#meet(uuid, null).catch(unlessRefused)
      for (let parts = 0, hasMore = true; hasMore && parts < PARTS_MAX; parts += 1) {
        const dir = this.#emptySpool()
        const part = await this.#do('pull', { uuid, projects, dir })
        const wantsMore = await this.#take(dir, part, sum)
        sum.bytes += part.bytes
        sum.unchanged = part.unchanged
        hasMore = part.hasMore || wantsMore
      }
      await this.#world.writer.hub({ act: 'end-pull' })
    } finally {
      rmSync(this.#spool, { recursive: true, force: true })
    }
    const { added: _added, backlog, ...result } = sum
    await this.#world.passes.index(backlog)
    return result
  }

  /** @returns whether rows have to be fetched again */
  async #take(
    dir: string,
    { rows, gone }: PullPart,
    sum: { pulled: number; removed: number; added: number; backlog: number },
  ): Promise<boolean> {
    let wantsMore = false
    for (let at = 0; at < Math.max(rows.length, gone.length); at += TAKEN_AT_ONCE) {
      const part = { rows: rows.slice(at, at + TAKEN_AT_ONCE), gone: gone.slice(at, at + TAKEN_AT_ONCE) }
      const taken = await this.#world.writer.hub({ act: 'take', dir, part, addedBefore: sum.added })
      sum.pulled += taken.taken
      sum.removed += taken.removed
      sum.added += taken.added
      sum.backlog = taken.backlog
      if (taken.wantsMore) wantsMore = true
      this.#show({ done: Math.min(at + TAKEN_AT_ONCE, rows.length), total: rows.length })
    }
    return wantsMore
  }

  async #meet(uuid: string, value: string | null): Promise<void> {
    const { hub, format, names, purged } = await this.#do('prepare', { uuid, isRedacted: this.#settings.push.redact })
    await this.#world.writer.hub({ act: 'prepare', hub, format, names, purged, value })
  }

  #emptySpool(): string {
    rmSync(this.#spool, { recursive: true, force: true })
    mkdirSync(this.#spool, { mode: 0o700 })
    return this.#spool
  }

  #do<Task extends HubTask>(task: Task, order: HubTasks[Task]['order']): Promise<HubTasks[Task]['result']> {
    const { url } = this.#settings
    if (url === null) throw noHub()
    // The order and the result have the task's kind.
    const input = { url, task, order } as HubInput
    const onProgress = (progress: Progress): void => this.#show(progress)
    return this.#world.executor.run('hub', input, { signal: this.#stop.signal, onProgress })
  }

  #show({ done, total }: Progress): void {
    if (this.#atWork !== null) this.#atWork = { act: this.#atWork.act, done, total }
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

/** A role that lost its rights sees nothing, and its pulled copies go. */
function unlessRefused(error: unknown): void {
  if (!(error instanceof UserError) || error.code !== 'hub-rights') throw error
}

const nothingNamed = (act: 'push' | 'pull'): UserError =>
  new UserError(
    'hub-no-projects',
    `Nothing to ${act} is named.`,
    `Name projects in hub.${act}.projects, or with --project; '*' is all.`,
    { exitCode: 2 },
  )

const noHub = (): UserError =>
  new UserError('hub-not-set', 'No hub is set.', 'Set hub.url, for example postgres://user@host/database', {
    exitCode: 2,
  })
