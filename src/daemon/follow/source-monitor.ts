import { existsSync, statSync } from 'node:fs'
import { fileChangedAtMs } from '../../indexer/open-safely/cursor-file.ts'
import { discoverSources, nurseries, type Places } from '../../indexer/discover.ts'
import type { Source } from '../../indexer/source.ts'
import type { SourceId } from '../../model/ids.ts'
import { deeper, type Again, type PassDepth, type PassOrder } from '../../model/pass.ts'
import type { RunOutcome, SourceEnd } from '../../engine/writer/messages.ts'

/** A store that changed within this time is polled every second, like the global one. Others are polled every minute. */
const WARM_MS = 3_600_000
const CONFIRM_AGAIN_MS = 60_000
const BUSY_RETRIES_MS = [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000]
/**
 * After every event the store is checked again after these delays. An event can arrive before its commit is visible. And
 * chokidar suppresses events for 50 ms after each event of a file, also after one that our own reading caused.
 */
const RECHECK_MS = [20, 60, 250]
/** If many workspaces are created or removed at once, each causes an event. Workspaces are listed once for all of them. */
const DISCOVER_DELAY_MS = 100

interface Followed {
  readonly source: Source
  /** The signature when the last successful pass began. Undefined before the first. */
  signature: string | null | undefined
  changeSeenAtMs: number
  end: SourceEnd | null
  busyTimes: number
  /** The deepest pass that met a busy store. Null if none did since the last retry. */
  missedDepth: PassDepth | null
  /** When the next pass of each depth is planned, in epoch milliseconds. */
  readonly planned: Map<PassDepth, number>
}

export interface SourceMonitorContext {
  now(): number
  later(act: () => void, delayMs: number): void
  nudge(id: SourceId, depth: PassDepth): void
  /** Requests events about these folders and files. */
  watch(folders: readonly string[], files: readonly string[]): void
}

/**
 * Knows every source, how much of it was read, and when to read again: after events, by polling in case events get lost,
 * after a store was busy, and for the comparison that a cheap pass postponed. It only uses `stat` and opens no file.
 */
export class SourceMonitor {
  readonly #places: Places
  readonly #context: SourceMonitorContext
  readonly #followed = new Map<SourceId, Followed>()
  /** The state of the folders of all workspaces when workspaces were last listed. Null before. */
  #rootsSeen: string | null = null
  #isDiscoveryDue = false
  /** True if every source that existed had a pass since the start. */
  wasAllRead = false

  constructor(places: Places, context: SourceMonitorContext) {
    this.#places = places
    this.#context = context
  }

  get sources(): readonly Source[] {
    return [...this.#followed.values()].map(({ source }) => source)
  }

  get ends(): readonly SourceEnd[] {
    return [...this.#followed.values()].flatMap(({ end }) => end ?? [])
  }

  paced(id: SourceId): { id: SourceId; changedAtMs(): number } | undefined {
    const followed = this.#followed.get(id)
    return followed && { id, changedAtMs: () => changedAtMs(followed.source) }
  }

  /** Finds new sources. Each of them gets its first pass. */
  discover(): void {
    // A source that appears while the daemon runs is new, and Cursor writes its store within moments.
    const changeSeenAtMs = this.#rootsSeen === null ? 0 : this.#context.now()
    this.#rootsSeen = this.#rootsState()
    for (const source of discoverSources(this.#places)) {
      if (this.#followed.has(source.id)) continue
      const fresh = {
        signature: undefined,
        changeSeenAtMs,
        end: null,
        busyTimes: 0,
        missedDepth: null,
        planned: new Map<PassDepth, number>(),
      }
      this.#followed.set(source.id, { source, ...fresh })
      this.#context.nudge(source.id, 'tail')
    }
    // The folder of all workspaces has an event when a workspace is created.
    const { sources } = this
    const files = sources.flatMap((source) => source.files)
    this.#context.watch([...this.#roots(), ...sources.map((source) => source.folder)], files)
  }

  /** @param isAll false to check only sources that probably change soon */
  poll(isAll: boolean): void {
    // A folder that did not exist when watching started has no events, so it is polled.
    if (isAll || this.#rootsState() !== this.#rootsSeen) this.discover()
    const warmSinceMs = this.#context.now() - WARM_MS
    for (const followed of this.#followed.values()) {
      const isWarm = followed.source.isAlwaysWarm || followed.changeSeenAtMs > warmSinceMs
      if ((isAll || isWarm) && this.#check(followed)) continue
      // A change of permissions or owner does not change the signature.
      const isShut = followed.end?.state === 'unreadable' || followed.end?.state === 'refused'
      if (isAll && isShut) this.#context.nudge(followed.source.id, 'keys')
    }
  }

  /** Must be called when something happened in this folder. */
  onEvent(folder: string): void {
    const affected = [...this.#followed.values()].filter(({ source }) => source.folder === folder)
    if (affected.length === 0) this.#discoverSoon()
    for (const followed of affected) {
      this.#check(followed)
      for (const delayMs of RECHECK_MS) this.#context.later(() => this.#check(followed), delayMs)
    }
  }

  /** True if everything that can be read now was read. */
  get isUpToDate(): boolean {
    return [...this.#followed.values()].every(
      ({ source, signature, end }) => cannotBeRead(source, end) || signature === signatureOf(source),
    )
  }

  /** Milliseconds since the oldest change that is not read yet. 0 if there is none. */
  get lagMs(): number {
    const waiting = [...this.#followed.values()].filter(
      ({ source, signature, end }) => end?.state === 'ok' && signature !== signatureOf(source),
    )
    const oldest = Math.min(...waiting.map(({ source }) => changedAtMs(source)))
    return waiting.length === 0 ? 0 : Math.max(0, this.#context.now() - oldest)
  }

  /** Must be called when a run begins. @returns a function that takes the outcome of the run */
  begin(orders: readonly PassOrder[]): (outcome: RunOutcome) => void {
    const signatures = new Map(orders.map(({ id }) => [id, this.#signature(id)]))
    const depths = new Map(orders.map(({ id, depth }) => [id, depth]))
    return (outcome) => {
      for (const end of outcome.ends) {
        const followed = this.#followed.get(end.id)
        if (followed !== undefined) this.#settle(followed, end, signatures.get(end.id) ?? null, depths.get(end.id))
      }
      // A source without an end no longer exists: its workspace was deleted. If it returns, it is discovered again.
      const ended = new Set(outcome.ends.map(({ id }) => id))
      for (const { id } of orders) if (outcome.isWhole && !ended.has(id)) this.#followed.delete(id)
      this.wasAllRead ||= this.ends.length === this.#followed.size
    }
  }

  #discoverSoon(): void {
    if (this.#isDiscoveryDue) return
    this.#isDiscoveryDue = true
    this.#context.later(() => {
      this.#isDiscoveryDue = false
      this.discover()
    }, DISCOVER_DELAY_MS)
  }

  #roots(): string[] {
    return nurseries(this.#places)
  }

  #rootsState(): string {
    return this.#roots().map(folderState).join(' ')
  }

  #check(followed: Followed): boolean {
    const { source, signature, busyTimes, end } = followed
    // Discovery already requested the first pass, and a busy source already has a planned retry.
    if (signature === undefined || busyTimes > 0 || signatureOf(source) === signature) return false
    followed.changeSeenAtMs = this.#context.now()
    // A source that could not be read gets a deeper pass, even if its signature is the one of the last read.
    this.#context.nudge(source.id, end === null || end.state === 'ok' ? 'tail' : 'keys')
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
      this.#context.nudge(source.id, depth)
    }, inMs)
  }

  /**
   * Plans one retry for all passes that met a busy store, at the deepest depth of them. What a person asked for is not
   * asked for again: its caller already got the failure, and it must not confirm a mass loss hours later.
   */
  #tryAgain(followed: Followed, depth: PassDepth): void {
    const { source, busyTimes, missedDepth } = followed
    followed.missedDepth = deeper(depth, missedDepth ?? 'tail')
    if (missedDepth !== null) return
    const delayMs = BUSY_RETRIES_MS[Math.min(busyTimes, BUSY_RETRIES_MS.length) - 1] ?? 60_000
    this.#context.later(() => {
      this.#context.nudge(source.id, followed.missedDepth ?? 'tail')
      followed.missedDepth = null
    }, delayMs)
  }

  /** Many rows are missing at once. Plans a comparison for the time when the loss can be confirmed. */
  #confirmLater(followed: Followed, atMs: number): void {
    const untilMs = atMs - this.#context.now()
    // If it could already be confirmed and was not, the store cannot be read now. It is tried again.
    this.#passLater(followed, { depth: 'keys', inMs: untilMs > 0 ? untilMs : CONFIRM_AGAIN_MS })
  }

  #signature(id: SourceId): string | null {
    const followed = this.#followed.get(id)
    return followed === undefined ? null : signatureOf(followed.source)
  }

  #settle(followed: Followed, end: SourceEnd, signature: string | null, depth: PassDepth | undefined): void {
    followed.end = end
    followed.busyTimes = end.state === 'busy' ? followed.busyTimes + 1 : 0
    if (end.state === 'busy') return this.#tryAgain(followed, depth ?? 'tail')
    // An unreadable source is tried again when it changes.
    followed.signature = signature
    for (const again of end.again) this.#passLater(followed, again)
    if (end.pendingLoss !== null) this.#confirmLater(followed, end.pendingLoss.confirmableAtMs)
    this.#check(followed)
  }
}

/** A source that was missing and exists now can be read. Its first pass may take minutes. */
const cannotBeRead = ({ path }: Source, end: SourceEnd | null): boolean =>
  end !== null && end.state !== 'ok' && !(end.state === 'missing' && existsSync(path))

/** Changes if an entry of the folder is created or removed. */
function folderState(path: string): string {
  return orIfUnreadable(
    () => {
      const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
      return stat === undefined ? '-' : `${stat.ino}:${stat.mtimeNs}`
    },
    (code) => code,
  )
}

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

/** A path that must not be read is a state like any other. The next pass reports it. */
function orIfUnreadable<Value>(look: () => Value, orElse: (code: string) => Value): Value {
  try {
    return look()
  } catch (error) {
    if (error instanceof Error && 'code' in error) return orElse(String(error.code))
    throw error
  }
}
