import type { Mirror } from '../mirror/open.ts'
import type { UsageImport } from '../mirror/usage/usage-events.ts'
import type { Ask } from './questions.ts'
import type { Histories } from '../model/commit.ts'
import type { ArchiveActs, PurgeReport } from './answers/archives.ts'
import type { HubActs } from './answers/hub.ts'
import type { PurgeScope } from '../mirror/purge/scope.ts'
import type { Status, SyncOutcome } from './answers/status.ts'

/** The state of the running daemon. */
export interface LiveState extends Pick<Status, 'state' | 'reasons' | 'uptimeMs' | 'progress' | 'resources' | 'lagMs'> {
  /** Whether everything that existed at its start has been read. Missing without a daemon. */
  readonly wasAllRead?: boolean
  readonly mirrorPath: string
}

export interface DaemonEvent {
  readonly type: 'status' | 'chat' | 'message' | 'loss' | 'archive'
  readonly data: Readonly<Record<string, unknown>>
}

/** Lets the chats of a project belong to another one. */
export interface MergeOrder {
  /** The root URI of the project. */
  readonly uri: string
  /** That of the other one. Null: they belong to their own again. */
  readonly target: string | null
}

export interface Access {
  /** Another origin of this server, as the settings say. */
  readonly publicUrl?: string | null
  readonly token: string | null
  readonly tokenRequired: boolean
  /** With ports, in lower case, as in the Host header: `127.0.0.1:4870`, `[::1]:4870`. */
  allowedHosts(): ReadonlySet<string>
}

/** A file of the built page. */
interface PageAsset {
  readonly type: string
  readonly body: Uint8Array<ArrayBuffer>
}

export interface PageFiles {
  /** The HTML document that every address of the page answers. Null if the page was not built. */
  shell(): string | null
  /** Null for a name that the build did not make. */
  asset(name: string): PageAsset | null
}

/** Removes for good. Handed to the HTTP side, which only reads. */
export interface PurgeActs {
  /** Only one at a time. @param isDryRun tells what would go; nothing goes */
  purge(scope: PurgeScope, isDryRun: boolean): Promise<PurgeReport>
  /** Goes on without bars that are missing: what they kept out may come in again. */
  acceptLostBars(): Promise<void>
  readonly isBusy: boolean
}

/** What the HTTP application needs. It only reads the mirror; functions given here do everything else. */
export interface ApiContext {
  readonly version: string
  /** As in `daemon.json`. Missing without a daemon. */
  readonly startedAt?: string
  /** IANA name of the zone for dates without one, unless the request names a zone. */
  readonly timeZone: string
  readonly access: Access
  /** Projects that the settings leave out, as they are written there. */
  readonly excluded: readonly string[]
  /** Missing where nobody opens a browser. */
  readonly page?: PageFiles
  /** Milliseconds after which `/api/events` sends a heartbeat; 15,000 by default. */
  readonly heartbeatMs?: number
  /** A read-only connection. It is the same one each time, because caches belong to it. @throws UserError */
  mirror(): Mirror
  /** Epoch milliseconds. */
  now(): number
  /** For slow requests: another process answers, so that lists do not wait. */
  readonly ask: Ask
  live(): LiveState
  /** Reads git histories of projects' folders. */
  readonly histories: Histories
  /** Runs a pass now. Resolves when it is done. */
  sync(options: { full: boolean }): Promise<SyncOutcome>
  /** Imports a file from Cursor's dashboard. @throws UserError `bad-csv`, `bad-columns`, `bad-cell` if it cannot be read */
  importUsage(text: string): Promise<UsageImport>
  mergeProjects(order: MergeOrder): Promise<{ readonly chats: number }>
  readonly archives: ArchiveActs
  readonly purging: PurgeActs
  readonly hub: HubActs
  /** @returns the function that ends the subscription */
  subscribe(listener: (event: DaemonEvent) => void): () => void
  /** Called with every error that was answered with a 500. */
  reportFault?(error: unknown): void
}
