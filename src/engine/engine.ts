import type { ApiContext, DaemonEvent, MergeOrder } from '../api/context.ts'
import type { SyncOutcome } from '../api/answers/status.ts'
import type { Ask, Question } from '../api/questions.ts'
import { Histories } from '../git/histories.ts'
import type { PassOrder } from '../model/pass.ts'
import { realSurroundings, type Settings } from '../settings.ts'
import { openReader, type Mirror, type ReaderOptions } from '../mirror/open.ts'
import { Archives } from './archives/archives.ts'
import type { Executor } from './executor/executor.ts'
import { hubSchedule, Sharing } from './hub/sharing.ts'
import { openPurging } from './purge/purging.ts'
import { sourceReasons } from './source-reasons.ts'
import type { IndexWriter } from './writer/thread-index.ts'
import type { RunOutcome, Writer } from './writer/writer.ts'

export interface EngineContext {
  readonly version: string
  /** The machine's time zone, an IANA name. */
  zone(): string
  /** Epoch milliseconds. */
  now(): number
  readonly executor: Pick<Executor, 'run' | 'close'>
  readonly writer: Writer
  readonly index: IndexWriter
  /** Passes over all sources now. Resolves when all of it is searchable. */
  readAll(order: Omit<PassOrder, 'id'>): Promise<Pick<RunOutcome, 'changed' | 'added' | 'gone' | 'ends'>>
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

export type Engine = ReturnType<typeof openEngine>

/** What the HTTP side needs besides the engine. */
type ApiSurroundings = Pick<ApiContext, 'access' | 'live' | 'subscribe'> &
  Partial<Pick<ApiContext, 'startedAt' | 'page' | 'reportFault'>>

/** Made when it is first needed: most commands need few parts. */
function lazily<Part>(make: () => Part): () => Part {
  let part: Part | undefined
  return () => (part ??= make())
}

/** The product, assembled once: for the daemon, and for a command that works without one. */
export function openEngine(settings: Settings, context: EngineContext) {
  const { writer, index, executor } = context
  const sync = async ({ full }: { full: boolean }): Promise<SyncOutcome> => {
    const startedAt = performance.now()
    const read = await context.readAll(full ? { depth: 'values', isAsked: true } : { depth: 'keys' })
    if (full && !(await index.check(true))) {
      // It is made anew.
      await index.follow()
      context.renewReaders()
    }
    const { changed, added, gone, ends } = read
    return { changed, added, gone, tookMs: Math.round(performance.now() - startedAt), reasons: sourceReasons(ends) }
  }
  let histories: Histories | undefined
  const archives = lazily(() => new Archives(settings, context))
  const sharing = lazily(() => new Sharing(settings.hub, context))
  const hub = lazily(() => hubSchedule(settings.hub, sharing(), context))
  const purging = lazily(() => openPurging(settings, { ...context, sync, archives: archives(), sharing: sharing() }))
  const { deadlineMs } = settings.search
  // TypeScript does not see that an answer has the kind of its question.
  const ask: Ask = (question) =>
    executor.run('search', { question: question as Question, deadlineMs }) as ReturnType<
      typeof ask<typeof question.kind>
    >
  return {
    archives,
    hubSchedule: hub,
    /** Removes chats and texts for good. */
    purging,
    /** The engine in the form that the HTTP side needs, with what that needs besides. */
    api: (more: ApiSurroundings): ApiContext => ({
      ...more,
      version: context.version,
      timeZone: context.zone(),
      excluded: settings.exclude.projects,
      mirror: () => context.mirror(),
      now: () => context.now(),
      ask,
      sync,
      importUsage: (text: string) => writer.act('importUsage', text),
      mergeProjects: (order: MergeOrder) => writer.act('merge', order),
      get histories() {
        return (histories ??= new Histories(realSurroundings().env))
      },
      get archives() {
        return archives()
      },
      get purging() {
        return purging()
      },
      get hub() {
        return sharing()
      },
    }),
    /** Ends everything that runs. The creator of the writer stops it afterwards. */
    async close(): Promise<void> {
      histories?.close()
      await executor.close()
    },
  }
}

export type LazyReader = ReturnType<typeof lazyReader>

/** For lists and counts. The cache is small: the system caches the file too, and malloc seldom gives memory back. */
const forLists: ReaderOptions = { cacheKb: 2000, isIndexWanted: false }

/** A connection that opens at the first question. If that fails, the next question tries again. */
export function lazyReader(path: string, options = forLists) {
  let mirror: Mirror | null = null
  return {
    open: (): Mirror => (mirror ??= openReader(path, options)),
    /** The next question opens it again. */
    close(): void {
      mirror?.close()
      mirror = null
    },
  }
}
