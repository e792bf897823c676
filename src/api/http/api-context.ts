import type { Mirror } from '../../mirror/open.ts'
import type { UsageImport } from '../../mirror/usage/usage-events.ts'
import type { Ask } from '../questions.ts'
import type { Histories } from '../reports/histories.ts'
import type { ArchiveActs } from './archive-shapes.ts'
import type { PurgeActs } from './purge-shapes.ts'

export type DaemonState = 'starting' | 'indexing' | 'ready' | 'degraded'

export interface Progress {
  /** `reading`: rows of Cursor's stores become readable. `indexing`: messages that can be read become searchable. */
  readonly stage: 'reading' | 'indexing'
  readonly done: number
  readonly total: number
  readonly bytesPerSecond: number | null
  readonly etaMs: number | null
}

export interface Resources {
  readonly rssBytes: number
  readonly cpuPercent: number
  readonly longestReadMs: number
  readonly bytesRead: number
  /** Of Cursor's files; 0 while nothing changes. */
  readonly bytesReadLastMinute: number
}

/** How far the counting of tokens has come. */
export interface EstimationState {
  /**
   * `waiting`: for the daemon to rest, or for more messages. `paused`: for searches or indexing. `failed`: again and
   * again, so that it is not tried before the next start; the log says why.
   */
  readonly state: 'off' | 'waiting' | 'working' | 'paused' | 'done' | 'failed'
  /** Messages that are not counted yet; null where that is not known. */
  readonly left: number | null
}

/** What only the running daemon knows of itself. */
export interface LiveState {
  readonly state: DaemonState
  /** Why it is not ready, or degraded. */
  readonly reasons: readonly string[]
  readonly uptimeMs: number
  readonly progress: Progress | null
  /** Whether all that there was at its start has been read. Not given where no daemon runs. */
  readonly wasAllRead?: boolean
  readonly resources: Resources
  /** From a commit seen in a source to its being searchable; null before the first. */
  readonly lagMs: number | null
  readonly mirrorPath: string
  /** Not given where nobody counts. */
  readonly estimation?: EstimationState
}

export interface DaemonEvent {
  readonly type: 'status' | 'chat' | 'message' | 'loss' | 'archive'
  readonly data: Readonly<Record<string, unknown>>
}

export interface SyncOutcome {
  readonly changed: number
  readonly added: number
  readonly gone: number
  readonly tookMs: number
  /** What could not be read, or is not believed yet, in words for a person. */
  readonly reasons: readonly string[]
}

/** A file that the user downloaded from Cursor's dashboard. */
export interface UsageFileText {
  readonly text: string
  /** IANA name of the zone in which times without one are read. */
  readonly timeZone: string
}

export interface UsageOutcome extends UsageImport {
  readonly unknownColumns: readonly string[]
}

export interface Access {
  readonly token: string | null
  readonly tokenRequired: boolean
  /** With their ports, lower case, as a browser writes them in Host: `127.0.0.1:4870`, `[::1]:4870`. */
  allowedHosts(): ReadonlySet<string>
}

/** All that the HTTP side is given. It reads; whatever acts is a function handed in here. */
export interface ApiContext {
  readonly version: string
  /** As `daemon.json` tells it. Not given where no daemon runs. */
  readonly startedAt?: string
  /** IANA name of the zone in which bare dates are read unless the request names one. */
  readonly timeZone: string
  readonly access: Access
  /** How long `/api/events` may be silent; 15,000 where left out. */
  readonly heartbeatMs?: number
  /** A connection that only reads; the same one each time, so that what is kept for it is kept. @throws UserError */
  mirror(): Mirror
  /** Epoch milliseconds. */
  now(): number
  /** For what may take long: answered elsewhere, so that lists need not wait for it. */
  readonly ask: Ask
  live(): LiveState
  /** Reads what git knows of projects' folders. */
  readonly histories: Histories
  /** Runs a pass now; resolves when it is done. */
  sync(options: { full: boolean }): Promise<SyncOutcome>
  /** Keeps what a usage file says. @throws UserError `bad-csv`, `bad-columns`, `bad-cell` where it cannot be read */
  importUsage?(file: UsageFileText): Promise<UsageOutcome>
  readonly archives: ArchiveActs
  /** Not given where nobody can write to the mirror. */
  readonly purging?: PurgeActs
  /** @returns the function that ends the subscription */
  subscribe(listener: (event: DaemonEvent) => void): () => void
  /** Hears of every error that was answered with a 500. */
  reportFault?(error: unknown): void
}
