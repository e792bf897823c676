import { existsSync, statSync, type BigIntStats } from 'node:fs'
import { join } from 'node:path'
import { deferred, type Deferred } from '../../engine/deferred.ts'
import type { RunOutcome, SourceEnd } from '../../engine/writer/writer.ts'
import { discoverSources, nurseries, type Places } from '../../indexer/discover.ts'
import { fileChangedAtMs, identityOf, mayExist, orIfUnreadable } from '../../indexer/open-safely/cursor-file.ts'
import type { Source } from '../../indexer/source.ts'
import type { SourceId } from '../../model/ids.ts'
import { deeper, type Again, type PassDepth, type PassOrder } from '../../model/pass.ts'
import { watch as watchFiles } from 'chokidar'

const POLL_MS = 1000
/** At every so many polls, all sources are polled. */
const POLL_ALL_EVERY = 60
/** So many folders without a store are looked at in each poll, one after the other: there may be thousands of them. */
const ABSENT_AT_ONCE = 1000
/** A store that changed within this time is polled every second, like the global one. Others are polled every minute. */
const WARM_MS = 3_600_000
/** The folders of the stores that changed last are watched. More would cost memory, and the poll finds the changes in others. */
const WATCHED_MAX = 1000
/** An event can arrive before its commit is visible, so the store is looked at for a while after every event. */
const LOOK_MS = 250
const LOOK_EVERY_MS = 30
/** If many workspaces are created or removed at once, each causes an event. Workspaces are listed once for all of them. */
const DISCOVER_DELAY_MS = 100
const CONFIRM_AGAIN_MS = 60_000
/** A busy store is tried again after this time, and after twice as long each time that it is busy again. */
const BUSY_RETRY_MS = 1000
const BUSY_RETRY_MS_MAX = 60_000
/** A pass begins this long after the last change, because Cursor may still be writing, or quitting. */
const SETTLE_MS = 50
/** A pass begins at most this long after the first change, even if writes continue. */
const SETTLE_MS_MAX = 500
/**
 * After a run that wrote for long, as in a chat of tens of thousands of messages, the next one waits some times as long: an agent
 * writes many times a second, and each run places all messages of its chat.
 */
const REST = 5
const REST_MS_MAX = 600

/** kind: `change`, of the file with this name, or anything else. */
type OnEvent = (kind: string, name: string | null) => void

export interface FollowContext {
  now(): number
  /** Runs `act` once after this many milliseconds. */
  later(act: () => void, delayMs: number): void
  /** @param orders empty if the run was started because of `hasMore` */
  run(orders: readonly PassOrder[]): Promise<RunOutcome>
  /** True if a run without orders has something to do. */
  hasMore(): boolean
  /** Watches a folder and not what is below it. @returns how to end that */
  watch(folder: string, onEvent: OnEvent): () => void
  /** Called once, if events cannot be had. */
  warn(sentence: string): void
}

interface Followed {
  readonly source: Source
  /** The signature when the last successful pass began. Undefined before the first. */
  signature: string | null | undefined
  /** When it last changed, or was seen to have changed. */
  changedAtMs: number
  end: SourceEnd | null
  busyTimes: number
  /** Until when it is looked at because of an event. Null if it is not. */
  lookUntilMs: number | null
  /** When the next pass of each depth is planned, in epoch milliseconds. */
  readonly planned: Map<PassDepth, number>
}

/** A requested pass. */
interface Waiting extends PassOrder {
  depth: PassDepth
  isAsked: boolean
  sinceMs: number
  /** Callers who want it now. The run settles them. */
  readonly askers: Deferred<RunOutcome>[]
}

/**
 * Knows every source, how much of it was read, and when to read again: after events, by polling in case events get lost,
 * after a store was busy, and for the comparison that a cheap pass postponed. It never runs two passes at once, and none in
 * the middle of a burst of writes. It only uses `stat` and opens no file.
 */
export class Follow {
  readonly #places: Places
  readonly #context: FollowContext
  readonly #followed = new Map<SourceId, Followed>()
  readonly #waiting = new Map<SourceId, Waiting>()
  readonly #watched = new Map<string, { readonly identity: string; readonly end: () => void }>()
  #files: ReadonlySet<string> = new Set()
  /** Folders in which new sources appear, and their state when sources were last looked for. */
  #nurseries: readonly string[] = []
  #nurseriesSeen = ''
  /** Stores that did not exist then, and the next one to look for. */
  #absent: readonly string[] = []
  #absentAt = 0
  #isDiscoveryDue = false
  #isPumpDue = false
  #isRunning = false
  #isStopped = false
  #hasWarned = false
  #restsUntilMs = 0
  /** True if every source that existed had a pass since the start. */
  wasAllRead = false

  constructor(places: Places, context: FollowContext) {
    this.#places = places
    this.#context = context
  }

  start(): void {
    this.#discover()
    this.#pollLater(1)
  }

  /** No run starts after this, and no event is noticed. */
  stop(): void {
    this.#isStopped = true
    for (const { end } of this.#watched.values()) end()
    this.#watched.clear()
  }

  get ends(): readonly SourceEnd[] {
    return [...this.#followed.values()].flatMap(({ end }) => end ?? [])
  }

  /** True if everything that can be read now was read. */
  get isUpToDate(): boolean {
    return [...this.#followed.values()].every(
      (followed) => cannotBeRead(followed) || (followed.signature !== undefined && !this.#isUnread(followed)),
    )
  }

  /** Milliseconds since the oldest change that is not read yet. 0 if there is none. */
  get lagMs(): number {
    const unread = [...this.#followed.values()].filter((each) => each.end?.state === 'ok' && this.#isUnread(each))
    const oldest = Math.min(...unread.map(({ source }) => changedAtMs(source)))
    return unread.length === 0 ? 0 : Math.max(0, this.#context.now() - oldest)
  }

  /** Requests a pass over this source when it is quiet. If a pass already waits, it gets the deeper of both depths. */
  nudge(id: SourceId, depth: PassDepth): void {
    this.#request({ id, depth })
    this.wake()
  }

  /** Passes over all sources at once, and resolves with the outcome of that run. Null if there are none. */
  async readAll(order: Omit<PassOrder, 'id'>): Promise<RunOutcome | null> {
    this.#discover()
    if (this.#followed.size === 0) return null
    const asked = deferred<RunOutcome>()
    for (const id of this.#followed.keys()) this.#request({ id, ...order }).askers.push(asked)
    this.wake()
    return asked.promise
  }

  /** Checks whether there is something to do. What is requested at the same time becomes one run. */
  wake(): void {
    if (this.#isPumpDue) return
    this.#isPumpDue = true
    queueMicrotask(() => {
      this.#isPumpDue = false
      this.#pump()
    })
  }

  /** Finds new sources. Each of them gets its first pass. */
  #discover(): void {
    const { folders, absent } = nurseries(this.#places)
    this.#nurseries = folders
    this.#absent = absent
    this.#nurseriesSeen = this.#nurseriesNow()
    for (const source of discoverSources(this.#places)) {
      if (this.#followed.has(source.id)) continue
      this.#followed.set(source.id, {
        source,
        signature: undefined,
        changedAtMs: changedAtMs(source),
        end: null,
        busyTimes: 0,
        lookUntilMs: null,
        planned: new Map(),
      })
      this.nudge(source.id, 'tail')
    }
    this.#files = new Set([...this.#followed.values()].flatMap(({ source }) => source.files))
    this.#watchFolders()
  }

  #watchFolders(): void {
    const latest = [...this.#followed.values()].toSorted((one, other) => rankOf(other) - rankOf(one))
    const folders = new Set([...this.#nurseries, ...latest.map(({ source }) => source.folder)])
    const wanted = new Map([...folders].slice(0, WATCHED_MAX).map((folder) => [folder, folderIdentity(folder)]))
    for (const [folder, { identity }] of this.#watched) if (wanted.get(folder) !== identity) this.#unwatch(folder)
    for (const [folder, identity] of wanted) {
      // A folder that does not exist yet is watched once it is found by the poll.
      if (identity === null || this.#watched.has(folder)) continue
      const end = this.#context.watch(folder, (kind, name) => this.#onEvent(folder, kind, name))
      this.#watched.set(folder, { identity, end })
    }
  }

  #unwatch(folder: string): void {
    this.#watched.get(folder)?.end()
    this.#watched.delete(folder)
  }

  /** Must be called if a folder cannot be watched. */
  onWatchError(error: unknown): void {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    // The folder was removed in the meantime, or may not be listed.
    if (this.#hasWarned || ['ENOENT', 'EACCES', 'EPERM'].includes(code)) return
    this.#hasWarned = true
    const isLimit = code === 'ENOSPC' || code === 'EMFILE'
    const why = isLimit ? 'the limit of watches of this system is reached' : code
    this.#context.warn(
      `Watching by events stopped working (${why}). Polling continues: new messages are found within a second in the global store and in stores that changed within the hour, and within a minute in others. Raise fs.inotify.max_user_watches to get events again.`,
    )
  }

  /** Events can get lost, come early or come twice. Those of files that are no store’s say nothing. */
  #onEvent(folder: string, kind: string, name: string | null): void {
    if (kind === 'change' && name !== null && !this.#files.has(join(folder, name))) return
    if (this.#nurseries.includes(folder)) this.#discoverSoon()
    for (const followed of this.#followed.values()) {
      if (followed.source.folder !== folder) continue
      const isLooking = followed.lookUntilMs !== null
      followed.lookUntilMs = this.#context.now() + LOOK_MS
      if (!isLooking) this.#look(followed)
    }
  }

  #look(followed: Followed): void {
    this.#check(followed)
    const leftMs = (followed.lookUntilMs ?? 0) - this.#context.now()
    if (leftMs <= 0 || leftMs > LOOK_MS) followed.lookUntilMs = null
    else this.#context.later(() => this.#look(followed), LOOK_EVERY_MS)
  }

  #discoverSoon(): void {
    if (this.#isDiscoveryDue) return
    this.#isDiscoveryDue = true
    this.#context.later(() => {
      this.#isDiscoveryDue = false
      this.#discover()
    }, DISCOVER_DELAY_MS)
  }

  #pollLater(times: number): void {
    this.#context.later(() => {
      this.#poll(times % POLL_ALL_EVERY === 0)
      this.#pollLater(times + 1)
    }, POLL_MS)
  }

  /** @param isAll false to check only sources that probably change soon */
  #poll(isAll: boolean): void {
    // A folder that did not exist when watching started has no events, so it is polled.
    if (this.#nurseriesNow() !== this.#nurseriesSeen || this.#hasNewStore()) this.#discover()
    else if (isAll) this.#watchFolders()
    for (const followed of this.#followed.values()) {
      if ((isAll || this.#isWarm(followed)) && this.#check(followed)) continue
      // A change of permissions or owner does not change the signature.
      const isShut = followed.end?.state === 'unreadable' || followed.end?.state === 'refused'
      if (isAll && isShut) this.nudge(followed.source.id, 'keys')
    }
  }

  #nurseriesNow(): string {
    return this.#nurseries.map(folderState).join(' ')
  }

  #hasNewStore(): boolean {
    const some = this.#absent.slice(this.#absentAt, this.#absentAt + ABSENT_AT_ONCE)
    this.#absentAt = some.length < ABSENT_AT_ONCE ? 0 : this.#absentAt + ABSENT_AT_ONCE
    return some.some(mayExist)
  }

  #isWarm({ source, changedAtMs: atMs }: Followed): boolean {
    return source.isAlwaysWarm || atMs > this.#context.now() - WARM_MS
  }

  /** Of a source that has been quiet for long, only events and the poll of a minute say whether it changed. */
  #isUnread(followed: Followed): boolean {
    return this.#isWarm(followed) && followed.signature !== signatureOf(followed.source)
  }

  #check(followed: Followed): boolean {
    const { source, signature, busyTimes, end } = followed
    // Discovery already requested the first pass, and a busy source already has a planned retry.
    if (signature === undefined || busyTimes > 0 || signatureOf(source) === signature) return false
    followed.changedAtMs = this.#context.now()
    // A source that could not be read gets a deeper pass, even if its signature is the one of the last read.
    this.nudge(source.id, end === null || end.state === 'ok' ? 'tail' : 'keys')
    return true
  }

  /** Plans a pass. An earlier one takes its place, and asks again for what is left to do then. */
  #passLater({ source, planned }: Followed, { depth, inMs }: Again): void {
    const atMs = this.#context.now() + inMs
    if ((planned.get(depth) ?? Infinity) <= atMs) return
    planned.set(depth, atMs)
    this.#context.later(() => {
      if (planned.get(depth) !== atMs) return
      planned.delete(depth)
      this.nudge(source.id, depth)
    }, inMs)
  }

  #request({ id, depth, isAsked = false }: PassOrder): Waiting {
    const before = this.#waiting.get(id)
    const waiting = before ?? { id, depth, isAsked, sinceMs: this.#context.now(), askers: [] }
    waiting.depth = deeper(depth, waiting.depth)
    waiting.isAsked ||= isAsked
    this.#waiting.set(id, waiting)
    return waiting
  }

  /** Starts a run of all that is quiet, unless one is running: the next run does what is requested meanwhile. */
  #pump(): void {
    if (this.#isRunning || this.#isStopped) return
    const waiting = [...this.#waiting.values()].map((order) => ({ order, delayMs: this.#delayMs(order) }))
    const ready = waiting.filter(({ delayMs }) => delayMs <= 0).map(({ order }) => order)
    if (ready.length > 0 || this.#context.hasMore()) {
      for (const { id } of ready) this.#waiting.delete(id)
      void this.#run(ready)
    } else if (waiting.length > 0) {
      this.#context.later(() => this.#pump(), Math.max(1, Math.min(...waiting.map(({ delayMs }) => delayMs))))
    }
  }

  #delayMs(waiting: Waiting): number {
    if (waiting.askers.length > 0) return 0
    const now = this.#context.now()
    // If the clock was set back, the pass must not wait until the old time comes again.
    waiting.sinceMs = Math.min(waiting.sinceMs, now)
    const followed = this.#followed.get(waiting.id)
    const quietFromMs = (followed === undefined ? 0 : changedAtMs(followed.source)) + SETTLE_MS
    this.#restsUntilMs = Math.min(this.#restsUntilMs, now + REST_MS_MAX)
    return Math.max(Math.min(quietFromMs, waiting.sinceMs + SETTLE_MS_MAX), this.#restsUntilMs) - now
  }

  async #run(ready: readonly Waiting[]): Promise<void> {
    this.#isRunning = true
    const askers = new Set(ready.flatMap((order) => order.askers))
    const beganAtMs = this.#context.now()
    try {
      const begun = ready.map(({ id, depth }) => {
        const followed = this.#followed.get(id)
        return { id, depth, followed, signature: followed === undefined ? null : signatureOf(followed.source) }
      })
      const outcome = await this.#context.run(ready.map(({ id, depth, isAsked }) => ({ id, depth, isAsked })))
      const endedAtMs = this.#context.now()
      const isWriting = outcome.added + outcome.changed + outcome.gone > 0
      if (ready.length > 0 && isWriting)
        this.#restsUntilMs = endedAtMs + Math.min(REST * (endedAtMs - beganAtMs), REST_MS_MAX)
      const ends = new Map(outcome.ends.map((end) => [end.id, end]))
      for (const { id, depth, followed, signature } of begun) {
        const end = ends.get(id)
        if (followed !== undefined && end !== undefined) this.#settle(followed, end, signature, depth)
        // A source without an end no longer exists: its workspace was deleted. If it returns, it is discovered again.
        else this.#followed.delete(id)
      }
      this.wasAllRead ||= this.ends.length === this.#followed.size
      for (const asked of askers) asked.resolve(outcome)
    } catch (error) {
      for (const asked of askers) asked.reject(error instanceof Error ? error : new Error(String(error)))
    } finally {
      this.#isRunning = false
      this.wake()
    }
  }

  #settle(followed: Followed, end: SourceEnd, signature: string | null, depth: PassDepth): void {
    followed.end = end
    followed.busyTimes = end.state === 'busy' ? followed.busyTimes + 1 : 0
    if (end.state === 'busy') {
      const inMs = Math.min(BUSY_RETRY_MS * 2 ** (followed.busyTimes - 1), BUSY_RETRY_MS_MAX)
      // What a person asked for is not asked for again: its caller already got the failure, and it must not confirm a mass
      // loss hours later.
      this.#passLater(followed, { depth, inMs })
      return
    }
    // An unreadable source is tried again when it changes.
    followed.signature = signature
    for (const again of end.again) this.#passLater(followed, again)
    if (end.pendingLoss !== null) {
      // Many rows are missing at once. They are compared when the loss can be confirmed. If it could already be confirmed
      // and was not, the store cannot be read now, and it is tried again.
      const untilMs = end.pendingLoss.confirmableAtMs - this.#context.now()
      this.#passLater(followed, { depth: 'keys', inMs: untilMs > 0 ? untilMs : CONFIRM_AGAIN_MS })
    }
    this.#check(followed)
  }
}

/** A source that was missing and exists now can be read. Its first pass may take minutes. */
const cannotBeRead = ({ source, end }: Followed): boolean =>
  end !== null && end.state !== 'ok' && !(end.state === 'missing' && existsSync(source.path))

/** The folders of the sources with the highest numbers are watched. */
const rankOf = ({ source, changedAtMs: atMs }: Followed): number =>
  source.isAlwaysWarm ? Number.MAX_SAFE_INTEGER : atMs

/** Changes if an entry of the folder is created or removed, or if its permissions change. */
function folderState(path: string): string {
  const stat = statOf(path)
  return stat === undefined ? '-' : `${stat.ino}:${stat.ctimeNs}`
}

/**
 * A folder that was removed and created again has no events until it is watched again. Some file systems, such as ext4,
 * reuse the inode of a removed folder for a new one. The time of birth distinguishes the two. Null if there is no folder.
 */
function folderIdentity(path: string): string | null {
  const stat = statOf(path)
  return stat === undefined ? null : `${identityOf(stat)}:${stat.birthtimeNs}`
}

const statOf = (path: string): BigIntStats | undefined =>
  orIfUnreadable(
    () => statSync(path, { bigint: true, throwIfNoEntry: false }),
    () => undefined,
  )

const signatureOf = (source: Source): string | null =>
  orIfUnreadable<string | null>(
    () => source.signature(),
    (code) => code,
  )

const changedAtMs = (source: Source): number =>
  orIfUnreadable(
    () => fileChangedAtMs(source.path),
    () => 0,
  )

/**
 * One watcher of many folders. It reports what the system says, at once: chokidar's own events come after a look at each
 * entry of a folder, of which there may be a hundred thousand. For the same reason it ignores the entries.
 */
export function openWatch(onError: (error: unknown) => void) {
  const listeners = new Map<string, (kind: string, name: string | null) => void>()
  const watcher = watchFiles([], {
    depth: 0,
    ignoreInitial: true,
    ignorePermissionErrors: true,
    ignored: (path) => !listeners.has(path),
  })
  watcher.on('raw', (kind, name, details) => {
    listeners.get((details as { readonly watchedPath: string }).watchedPath)?.(kind, name)
  })
  watcher.on('error', onError)
  const watch: FollowContext['watch'] = (folder, onEvent) => {
    listeners.set(folder, onEvent)
    watcher.add(folder)
    return () => {
      listeners.delete(folder)
      watcher.unwatch(folder)
    }
  }
  return { watch, close: () => watcher.close() }
}
