import { randomBytes } from 'node:crypto'
import { rmSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Progress } from '../../api/http/schemas/archives.ts'
import { readIdentity } from '../../api/queries/archived/archived-chat.ts'
import type { OwnMachine } from '../../hub/own-machine.ts'
import { listQueue } from '../../mirror/hub/own-side.ts'
import type { Mirror } from '../../mirror/open.ts'
import { UserError } from '../../model/user-error.ts'
import type { HubSettings } from '../../settings.ts'
import type { Executor } from '../executor/executor.ts'
import type { HubInput, HubTask, HubTasks } from '../jobs/hub.ts'
import type { Writer } from '../writer/writer.ts'

export interface SharingWorld {
  readonly executor: Pick<Executor, 'run'>
  readonly writer: Pick<Writer, 'hub'>
  mirror(): Mirror
  /** Makes searchable what was pulled. Resolves when it is. @param added how many messages are new */
  index(added: number): Promise<void>
  /** Epoch milliseconds. */
  now(): number
}

export interface PushRequest {
  /** What the settings say if omitted. */
  readonly projects?: readonly string[] | undefined
  readonly isDryRun?: boolean
  readonly quietSinceMs?: number | null
  readonly due?: readonly string[]
  /** The label or uuid of a lost mirror, whose rows become those of this one first. */
  readonly takesOver?: string | undefined
}

/** In chats. */
export interface Shared {
  readonly removed: number
  readonly unchanged: number
  /** Size of the objects. */
  readonly bytes: number
}

export interface Pushed extends Shared {
  readonly pushed: number
  readonly leftOut: readonly { readonly id: string; readonly why: string }[]
  readonly waiting: readonly string[]
}

export interface Pulled extends Shared {
  readonly pulled: number
}

/** The folder of downloaded objects, emptied before and after each pull. */
const SPOOL = 'hub-spool'
/** Names no project, for a push of purges only. */
const NO_PROJECTS = '\0'
/** A pull goes on while another machine's copy has to be fetched instead; this ends one that would never end. */
const PARTS_MAX = 10_000

/** Sends this mirror's chats to the hub, and fetches those of others, one at a time. */
export class Sharing {
  readonly #settings: HubSettings
  readonly #spool: string
  readonly #world: SharingWorld
  readonly #stop = new AbortController()
  #last: Promise<unknown> = Promise.resolve()
  #progress: (Progress & { readonly act: 'push' | 'pull' }) | null = null

  constructor(settings: HubSettings, dataDir: string, world: SharingWorld) {
    this.#settings = settings
    this.#spool = join(dataDir, SPOOL)
    this.#world = world
  }

  /** What is being done. Null if nothing is. */
  get atWork(): (Progress & { readonly act: 'push' | 'pull' }) | null {
    return this.#progress
  }

  stop(): void {
    this.#stop.abort()
  }

  /** @throws UserError whose code begins with `hub-` */
  push(request: PushRequest = {}): Promise<Pushed> {
    return this.#inTurn('push', () => this.#push(request))
  }

  /** @throws UserError whose code begins with `hub-` */
  pull(projects: readonly string[] = this.#settings.pull.projects): Promise<Pulled> {
    return this.#inTurn('pull', () => this.#pull(projects))
  }

  async #push({ projects, isDryRun = false, quietSinceMs = null, due = [], takesOver }: PushRequest): Promise<Pushed> {
    const { push, machine: label } = this.#settings
    const named = projects ?? push.projects
    if (named.length === 0) throw nothingNamed('push', '--project')
    const uuid = readIdentity(this.#world.mirror())
    const value = randomBytes(16).toString('hex')
    await this.#meet(uuid, isDryRun ? null : value)
    if (takesOver !== undefined && !isDryRun) await this.#takeOver(takesOver, { uuid, label, value })
    const { purgesUpTo, ...result } = await this.#do('push', {
      machine: { uuid, label, value },
      projects: named,
      isRedacted: push.redact,
      isDryRun,
      quietSinceMs,
      due,
    })
    if (!isDryRun) await this.#world.writer.hub({ act: 'sent', purgesUpTo })
    return result
  }

  async #takeOver(machine: string, own: OwnMachine): Promise<void> {
    try {
      const dir = this.#emptySpool()
      const legacy = await this.#do('legacy', { machine, dir })
      const { added } = await this.#world.writer.hub({ act: 'adopt', dir, legacy })
      await this.#do('take-over', { machine: own, lost: legacy.machine })
      await this.#world.index(added)
    } finally {
      rmSync(this.#spool, { recursive: true, force: true })
    }
  }

  /** Tells the hub of purges that it does not know yet. */
  sendPurges(): Promise<void> {
    return this.#inTurn('push', async () => {
      if (this.#settings.url === null || listQueue(this.#world.mirror()).length === 0) return
      await this.#push({ projects: [NO_PROJECTS] })
    })
  }

  async #pull(projects: readonly string[]): Promise<Pulled> {
    if (projects.length === 0) throw nothingNamed('pull', '--project')
    const uuid = readIdentity(this.#world.mirror())
    const sum = { pulled: 0, removed: 0, unchanged: 0, bytes: 0 }
    let added = 0
    this.#emptySpool()
    try {
      await this.#meet(uuid, null).catch(unlessRefused)
      for (let parts = 0, hasMore = true; hasMore && parts < PARTS_MAX; parts += 1) {
        const dir = this.#emptySpool()
        const part = await this.#do('pull', { uuid, projects, dir })
        const taken = await this.#world.writer.hub({ act: 'take', dir, part })
        sum.pulled += taken.taken
        sum.removed += taken.removed
        sum.bytes += part.bytes
        sum.unchanged = part.unchanged
        added += taken.added
        hasMore = part.hasMore || taken.wantsMore
      }
      await this.#world.writer.hub({ act: 'end-pull' })
    } finally {
      rmSync(this.#spool, { recursive: true, force: true })
    }
    await this.#world.index(added)
    return sum
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
    const act = this.#progress?.act
    const onProgress = (progress: Progress): void => {
      if (act !== undefined) this.#progress = { ...progress, act }
    }
    // The order and the result have the task's kind.
    const input = { url, task, order } as HubInput
    const run = this.#world.executor.run('hub', input, { signal: this.#stop.signal, onProgress })
    return run as Promise<HubTasks[Task]['result']>
  }

  #inTurn<Result>(act: 'push' | 'pull', work: () => Promise<Result>): Promise<Result> {
    const done = this.#last.then(async () => {
      this.#progress = { act, done: 0, total: 0 }
      try {
        return await work()
      } finally {
        this.#progress = null
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

const nothingNamed = (act: 'push' | 'pull', flag: string): UserError =>
  new UserError(
    'hub-no-projects',
    `Nothing to ${act} is named.`,
    `Name projects in hub.${act}.projects, or with ${flag}; '*' is all.`,
    { exitCode: 2 },
  )

const noHub = (): UserError =>
  new UserError('hub-not-set', 'No hub is set.', 'Set hub.url, for example postgres://user@host/database', {
    exitCode: 2,
  })
