import type { ApiContext, DaemonEvent, UsageFileText, UsageOutcome } from '../api/context.ts'
import type { Ask, Question } from '../api/questions.ts'
import { Histories } from '../git/histories.ts'
import type { Mirror } from '../mirror/open.ts'
import { realSurroundings, type Settings } from '../settings.ts'
import { Archives } from './archives/archives.ts'
import type { Executor } from './executor/executor.ts'
import { HubSchedule } from './hub/hub-schedule.ts'
import { Sharing } from './hub/sharing.ts'
import { openPurging, type Purging } from './purge/purging.ts'
import type { IndexWriter } from './writer/thread-index.ts'
import type { Passes } from './passes.ts'
import type { Writer } from './writer/writer.ts'
import type { SyncOutcome } from '../api/answers/status.ts'

export interface EngineContext {
  readonly version: string
  /** The machine's time zone, an IANA name. */
  zone(): string
  /** Epoch milliseconds. */
  now(): number
  readonly writer: Pick<Writer, 'importUsage' | 'purge' | 'hub' | 'restore'>
  readonly passes: Passes
  readonly index: IndexWriter
  /** The connection for lists and counts. */
  mirror(): Mirror
  /** Makes readers forget what they remember of the mirror. */
  renewReaders(): void
  /** Publishes an event about archives. */
  publish(data: DaemonEvent['data']): void
  /** Writes to the log. The sentence must not contain text from a chat. */
  log(level: 'info' | 'warn' | 'error', sentence: string): void
  /** Is told of errors that nobody else sees: the mirror may be damaged. */
  onError?(error: unknown): void
  /** Absent in a command, which ends earlier. The next start of the daemon continues. */
  later?(act: () => void, delayMs: number): void
}

/** The product, assembled once: for the daemon, and for a command that works without one. */
export interface Engine {
  /** Reads Cursor now. */
  sync(options: { full: boolean }): Promise<SyncOutcome>
  /** Answers a search, a suggestion, statistics or tokens. */
  readonly query: Ask
  readonly archives: Archives
  /** Shares chats with other machines. */
  readonly sharing: Sharing
  readonly hubSchedule: HubSchedule
  /** Removes chats and texts for good. */
  readonly purging: Purging
  importUsage(file: UsageFileText): Promise<UsageOutcome>
  /** The engine in the form that the HTTP side needs. */
  api(): EngineApi
  /** Ends everything that runs. The creator of the writer stops it afterwards. */
  close(): Promise<void>
}

type EngineApi = Pick<
  ApiContext,
  'version' | 'timeZone' | 'mirror' | 'now' | 'ask' | 'histories' | 'sync' | 'archives' | 'purging' | 'hub'
> &
  Required<Pick<ApiContext, 'importUsage'>>

/** @param executor the only difference between a daemon and a command: jobs run in processes or inline */
export function openEngine(settings: Settings, executor: Executor, context: EngineContext): Engine {
  const { passes, writer } = context
  const histories = new Histories(realSurroundings().env, () => context.now())
  const archives = new Archives(settings, { ...context, executor })
  const sharing = new Sharing(settings.hub, { ...context, executor, mirror: () => context.mirror() })
  const hubSchedule = new HubSchedule(settings.hub, sharing, context)
  const purging = openPurging(settings, { ...context, executor, archives, sharing })
  const { deadlineMs } = settings.search
  // TypeScript does not see that an answer has the kind of its question.
  const query: Ask = (question) =>
    executor.run('search', { question: question as Question, deadlineMs }) as ReturnType<
      typeof query<typeof question.kind>
    >
  const engine: Engine = {
    sync: (options) => passes.sync(options),
    query,
    archives,
    sharing,
    hubSchedule,
    purging,
    importUsage: (file) => writer.importUsage(file),
    api: () => ({
      version: context.version,
      timeZone: context.zone(),
      mirror: () => context.mirror(),
      now: () => context.now(),
      ask: query,
      histories,
      sync: (options) => engine.sync(options),
      importUsage: (file) => engine.importUsage(file),
      archives,
      purging,
      hub: sharing,
    }),
    async close() {
      archives.stop()
      sharing.stop()
      histories.close()
      await executor.close()
    },
  }
  return engine
}
