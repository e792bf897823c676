import { existsSync, statSync } from 'node:fs'
import { fileChangedAtMs } from '../../indexer/open-safely/cursor-file.ts'
import { discoverSources, nurseries, type Places } from '../../indexer/discover.ts'
import { isAtLeast, type Again, type PassDepth, type Source } from '../../indexer/source.ts'
import type { SourceId } from '../../model/ids.ts'
import type { RunOutcome, SourceEnd } from '../../engine/writer/messages.ts'
import type { Order } from './pass-scheduler.ts'

/** A store that changed within the hour is looked at every second, like the global one; the others every minute. */
const WARM_MS = 3_600_000
const CONFIRM_AGAIN_MS = 60_000
const BUSY_RETRIES_MS = [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000]
/**
 * An event can come before its commit can be seen, and chokidar keeps still for 50 ms after each event of a file, be
 * it one that our own reading caused: after every event the store is looked at again after these many milliseconds.
 */
const RECHECK_MS = [20, 60, 250]
/** Where many workspaces are made or removed at once each has its event: they are listed once for all of these. */
const GATHER_MS = 100

interface Followed {
  readonly source: Source
  /** As of the beginning of the last pass that ended well; undefined before the first. */
  signature: string | null | undefined
  reconciledSignature: string | null | undefined
  changeSeenAtMs: number
  end: SourceEnd | null
  busyTimes: number
  /** The deepest pass that met a busy store; null where none did since it was last tried again. */
  missedDepth: PassDepth | null
  /** Passes that are planned, by their depth. */
  readonly planned: Set<PassDepth>
}

export interface SourceMonitorContext {
  now(): number
  later(act: () => void, delayMs: number): void
  nudge(id: SourceId, depth: PassDepth): void
  /** Folders to be told of when something happens to them or to these of their files. */
  watch(folders: readonly string[], files: readonly string[]): void
}

/**
 * Knows every source, what of it has been read, and when to look again: at events, by polling behind them, again after
 * a store was busy, and once more for the count that a cheap pass left out. All by `stat`; it opens nothing.
 */
export class SourceMonitor {
  readonly #places: Places
  readonly #world: SourceMonitorContext
  readonly #followed = new Map<SourceId, Followed>()
  /** The folders of all workspaces, as they were when their workspaces were last listed; null before. */
  #rootsSeen: string | null = null
  #isDiscoveryDue = false
  /** Whether a pass over each source that there was has ended since the start. */
  wasAllRead = false

  constructor(places: Places, world: SourceMonitorContext) {
    this.#places = places
    this.#world = world
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

  /** Looks for sources that appeared since; each new one gets its first pass. */
  discover(): void {
    // What appears while we run was made just now, and its store follows within moments.
    const changeSeenAtMs = this.#rootsSeen === null ? 0 : this.#world.now()
    this.#rootsSeen = this.#rootsState()
    for (const source of discoverSources(this.#places)) {
      if (this.#followed.has(source.id)) continue
      const fresh = {
        signature: undefined,
        reconciledSignature: undefined,
        changeSeenAtMs,
        end: null,
        busyTimes: 0,
        missedDepth: null,
        planned: new Set<PassDepth>(),
      }
      this.#followed.set(source.id, { source, ...fresh })
      this.#world.nudge(source.id, 'nudge')
    }
    // The folder of all workspaces tells when a new one is made.
    const { sources } = this
    const files = sources.flatMap((source) => source.files)
    this.#world.watch([...this.#roots(), ...sources.map((source) => source.folder)], files)
  }

  /** The mirror was made anew: until it was read again, what every source holds may be missing there. */
  readAnew(): void {
    this.wasAllRead = false
    for (const [id, followed] of this.#followed) {
      followed.signature = undefined
      followed.end = null
      this.#world.nudge(id, 'reconcile')
    }
  }

  /** @param isAll false: only those of which something may be expected */
  poll(isAll: boolean): void {
    // A folder that did not exist when it was to be watched tells of nothing: it is asked.
    if (isAll || this.#rootsState() !== this.#rootsSeen) this.discover()
    const warmSinceMs = this.#world.now() - WARM_MS
    for (const followed of this.#followed.values()) {
      const isWarm = followed.source.isAlwaysWarm || followed.changeSeenAtMs > warmSinceMs
      if ((isAll || isWarm) && this.#check(followed)) continue
      // Rights and owners change without a trace in the signature.
      const isShut = followed.end?.state === 'unreadable' || followed.end?.state === 'refused'
      if (isAll && isShut) this.#world.nudge(followed.source.id, 'count')
    }
  }

  /** Something happened in this folder. */
  onEvent(folder: string): void {
    const concerned = [...this.#followed.values()].filter(({ source }) => source.folder === folder)
    if (concerned.length === 0) this.#discoverSoon()
    for (const followed of concerned) {
      this.#check(followed)
      for (const delayMs of RECHECK_MS) this.#world.later(() => this.#check(followed), delayMs)
    }
  }

  /** Asks for a comparison of all keys of the sources that changed since their last one. */
  reconcileChanged(): void {
    for (const { source, reconciledSignature } of this.#followed.values()) {
      if (signatureOf(source) !== reconciledSignature) this.#world.nudge(source.id, 'reconcile')
    }
  }

  /** Whether everything the sources hold at this moment has been read, as far as they can be read. */
  get isUpToDate(): boolean {
    return [...this.#followed.values()].every(
      ({ source, signature, end }) => cannotBeRead(source, end) || signature === signatureOf(source),
    )
  }

  /** Milliseconds since the oldest change that is not read yet; 0 when there is none. */
  get lagMs(): number {
    const waiting = [...this.#followed.values()].filter(
      ({ source, signature, end }) => end?.state === 'ok' && signature !== signatureOf(source),
    )
    const oldest = Math.min(...waiting.map(({ source }) => changedAtMs(source)))
    return waiting.length === 0 ? 0 : Math.max(0, this.#world.now() - oldest)
  }

  /** To be called when a run begins. @returns the function that takes its outcome */
  begin(orders: readonly Order[]): (outcome: RunOutcome) => void {
    const signatures = new Map(orders.map(({ id }) => [id, this.#signature(id)]))
    const depths = new Map(orders.map(({ id, depth }) => [id, depth]))
    return (outcome) => {
      for (const end of outcome.ends) {
        const followed = this.#followed.get(end.id)
        if (followed !== undefined) this.#settle(followed, end, signatures.get(end.id) ?? null, depths.get(end.id))
      }
      // What has no end was not there any more: its workspace is deleted. Should it come back, it is found anew.
      const ended = new Set(outcome.ends.map(({ id }) => id))
      for (const { id } of orders) if (outcome.isWhole && !ended.has(id)) this.#followed.delete(id)
      this.wasAllRead ||= this.ends.length === this.#followed.size
    }
  }

  #discoverSoon(): void {
    if (this.#isDiscoveryDue) return
    this.#isDiscoveryDue = true
    this.#world.later(() => {
      this.#isDiscoveryDue = false
      this.discover()
    }, GATHER_MS)
  }

  #roots(): string[] {
    return nurseries(this.#places)
  }

  #rootsState(): string {
    return this.#roots().map(folderState).join(' ')
  }

  #check(followed: Followed): boolean {
    const { source, signature, busyTimes, end } = followed
    // The first pass was asked for at discovery, and what is busy has its retry coming.
    if (signature === undefined || busyTimes > 0 || signatureOf(source) === signature) return false
    followed.changeSeenAtMs = this.#world.now()
    // What could not be read is looked at in earnest, even if it came back as it was when it was last read.
    this.#world.nudge(source.id, end === null || end.state === 'ok' ? 'nudge' : 'count')
    return true
  }

  /** Once, however many passes ask for the same meanwhile. */
  #passLater(followed: Followed, { depth, inMs }: Again): void {
    if (followed.planned.has(depth)) return
    followed.planned.add(depth)
    this.#world.later(() => {
      followed.planned.delete(depth)
      this.#world.nudge(followed.source.id, depth)
    }, inMs)
  }

  /**
   * Of all the passes that meet a busy store the deepest is made up for, once for all of them. One that was to compare
   * every value at once compares all keys then: whoever ordered it was told, and believes no mass loss hours later.
   */
  #tryAgain(followed: Followed, failed: PassDepth): void {
    const depth = failed === 'full' ? 'reconcile' : failed
    const { source, busyTimes, missedDepth } = followed
    followed.missedDepth = missedDepth !== null && isAtLeast(missedDepth, depth) ? missedDepth : depth
    if (missedDepth !== null) return
    const delayMs = BUSY_RETRIES_MS[Math.min(busyTimes, BUSY_RETRIES_MS.length) - 1] ?? 60_000
    this.#world.later(() => {
      this.#world.nudge(source.id, followed.missedDepth ?? 'nudge')
      followed.missedDepth = null
    }, delayMs)
  }

  /** Very much vanished at once: when it can be settled, all is compared again. */
  #confirmLater(followed: Followed, atMs: number): void {
    const untilMs = atMs - this.#world.now()
    // What could be settled already and was not, for the store cannot be read now, is tried again.
    this.#passLater(followed, { depth: 'reconcile', inMs: untilMs > 0 ? untilMs : CONFIRM_AGAIN_MS })
  }

  #signature(id: SourceId): string | null {
    const followed = this.#followed.get(id)
    return followed === undefined ? null : signatureOf(followed.source)
  }

  #settle(followed: Followed, end: SourceEnd, signature: string | null, depth: PassDepth | undefined): void {
    followed.end = end
    followed.busyTimes = end.state === 'busy' ? followed.busyTimes + 1 : 0
    if (end.state === 'busy') return this.#tryAgain(followed, depth ?? 'nudge')
    // What cannot be read is tried again when it changes.
    followed.signature = signature
    if (depth === 'reconcile' || depth === 'full') followed.reconciledSignature = signature
    for (const again of end.again) this.#passLater(followed, again)
    if (end.pendingLoss !== null) this.#confirmLater(followed, end.pendingLoss.confirmableAtMs)
    this.#check(followed)
  }
}

/** What was missing and is there by now can be: it is read for the first time, perhaps for minutes. */
const cannotBeRead = ({ path }: Source, end: SourceEnd | null): boolean =>
  end !== null && end.state !== 'ok' && !(end.state === 'missing' && existsSync(path))

/** Changes when an entry of the folder is made or removed. */
function folderState(path: string): string {
  return unlessShut(
    () => {
      const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
      return stat === undefined ? '-' : `${stat.ino}:${stat.mtimeNs}`
    },
    (code) => code,
  )
}

const signatureOf = (source: Source): string | null =>
  unlessShut<string | null>(
    () => source.signature(),
    (code) => code,
  )

const changedAtMs = (source: Source): number =>
  unlessShut(
    () => fileChangedAtMs(source.path),
    () => 0,
  )

/** A path that may not even be looked at is a state of it like any other; the pass that follows tells it. */
function unlessShut<Value>(look: () => Value, orElse: (code: string) => Value): Value {
  try {
    return look()
  } catch (error) {
    if (error instanceof Error && 'code' in error) return orElse(String(error.code))
    throw error
  }
}
