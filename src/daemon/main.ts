import type { Worker } from 'node:worker_threads'
import type { ApiContext, LiveState } from '../api/context.ts'
import { mirrorPath, prepareDataFolder, readToken, removeDaemonFile } from '../engine/data-folder.ts'
import { lazyReader, openEngine } from '../engine/engine.ts'
import { Executor } from '../engine/executor/executor.ts'
import { takeLock } from '../engine/lock.ts'
import { excludedChats, misconfiguredFolders, startupWarnings } from '../engine/source-reasons.ts'
import type { Settings } from '../settings.ts'
import { Indexing, eventHub } from './follow/indexing.ts'
import { monitorDataFolder } from './lifecycle/data-folder-monitor.ts'
import { createLog, stackWithoutText, progressLine } from './lifecycle/log.ts'
import { writerSetup } from '../engine/writer/writer.ts'
import { pageFiles } from './server/page-files.ts'
import { asksForToken, listen, type AllowedHosts } from './server/listen.ts'

export interface DaemonContext {
  readonly version: string
  /** The machine's time zone. */
  zone(): string
  /** The thread of the mirror's writer. It may still be loading. */
  readonly writerThread: Worker
  /** Folder of the built page. */
  readonly pageDir: string
  /** Commands in a text as this user types them, for example after `npx`. */
  readonly asTyped: (text: string) => string
}

export interface Daemon {
  readonly url: string
  /** Rejects with a UserError if the data folder is no longer the daemon's. Never resolves. */
  readonly lost: Promise<never>
  stop(): Promise<void>
}

/**
 * Starts the daemon: folder, lock, mirror, HTTP. Resolves when the port is open and printed on stdout.
 * @throws UserError for every cause outside the program that can prevent a start
 */
export async function startDaemon(settings: Settings, context: DaemonContext): Promise<Daemon> {
  process.umask(0o077)
  const { dataDir } = settings
  prepareDataFolder(dataDir)
  const lock = takeLock(dataDir)
  const parts = assemble(settings, context)
  const { reader, log, indexing, engine, startedAtMs } = parts
  const progress = progressLine(process.stderr)
  try {
    // This comes first, so that no request is answered from a mirror that is being created or is not ours.
    await indexing.start()
    // The token exists before the port is open, so that a client that sees the port can read it.
    const token = asksForToken(settings) ? readToken(dataDir) : null
    const server = await listen(settings.http, async (hosts) => {
      const { answerFrom } = await import('./server/answer.ts')
      return answerFrom(apiContext(parts, hosts, token))
    })
    const folder = monitorDataFolder(dataDir, mirrorPath(dataDir), lock, {
      pid: process.pid,
      url: server.url,
      startedAt: new Date(startedAtMs).toISOString(),
      version: context.version,
    })
    process.stdout.write(`cursordex listening on ${server.url}\n`)
    for (const sentence of warningsOf(parts, token)) log.warn(context.asTyped(sentence))
    indexing.every(() => doWhatIsDue(parts), MINUTE_MS)
    // A daemon at rest is not woken for what nobody sees.
    if (progress.isSeen) indexing.every(() => progress.show(indexing.metrics.progress), PROGRESS_MS)
    server.makeReady()
    void engine.purging().resume()
    return {
      url: server.url,
      lost: Promise.race([folder.lost, indexing.damaged]),
      async stop() {
        indexing.pause()
        progress.show(null)
        const ended = engine.close()
        folder.leave()
        await server.close()
        reader.close()
        await ended
        // The writer closes last. Then SQLite empties its WAL, and the mirror is a single file again.
        await indexing.stop()
        lock.release()
      },
    }
  } catch (error) {
    await engine.close()
    removeDaemonFile(dataDir)
    await indexing.stop()
    lock.release()
    throw error
  }
}

const MINUTE_MS = 60_000
const PROGRESS_MS = 500

type Parts = ReturnType<typeof assemble>

/** Creates the parts. None of them starts to work yet. */
function assemble(settings: Settings, context: DaemonContext) {
  const startedAtMs = Date.now()
  const log = createLog(settings.log.level, process.stderr)
  const path = mirrorPath(settings.dataDir)
  const hub = eventHub()
  const onError = (error: unknown): unknown => {
    indexing.onReaderError(error)
    return error
  }
  const executor = new Executor(path, { onError })
  const reader = lazyReader(path)
  const renewReaders = (): void => {
    executor.renew()
    reader.close()
  }
  const indexing = new Indexing(context.writerThread, writerSetup(settings), { log, hub, renewReaders })
  const engine = openEngine(settings, {
    version: context.version,
    zone: () => context.zone(),
    now: Date.now,
    executor,
    writer: indexing.writer,
    index: indexing.index,
    readAll: (order) => indexing.readAll(order),
    mirror: () => reader.open(),
    renewReaders,
    publish: (data) => hub.send('archive', data),
    log: (level, sentence) => log[level](sentence),
    onError,
    later: (act, delayMs) => indexing.later(act, delayMs),
  })
  return { settings, context, executor, reader, log, hub, indexing, engine, startedAtMs, startedMs: performance.now() }
}

function warningsOf({ settings, reader }: Parts, token: string | null): readonly string[] {
  const { userDirs, homes } = settings.cursor
  return [
    ...startupWarnings([...userDirs, ...homes], token !== null),
    ...misconfiguredFolders(userDirs),
    ...excludedChats(() => reader.open(), settings.exclude.projects),
  ]
}

/** The archive jobs, pushes and pulls that are due. */
function doWhatIsDue({ engine, log }: Parts): void {
  try {
    engine.archives().schedule.tick()
    engine.hubSchedule().tick()
  } catch (error) {
    log.error({ stack: stackWithoutText(error) }, 'scheduled task failed')
  }
}

/** The context of the HTTP side: the engine, and the state of the daemon. */
function apiContext(parts: Parts, allowedHosts: AllowedHosts, token: string | null): ApiContext {
  const { settings, context, executor, log, hub, indexing, engine, startedAtMs, startedMs } = parts
  const live = (): LiveState => ({
    // Most requests want only the progress. The rest asks the system about files and processes.
    get state() {
      return indexing.state
    },
    get reasons() {
      return [...indexing.reasons, ...engine.hubSchedule().listReasons()]
    },
    // The clock of the machine may be set.
    uptimeMs: Math.round(performance.now() - startedMs),
    progress: indexing.metrics.progress,
    wasAllRead: indexing.follow.wasAllRead,
    get resources() {
      return indexing.metrics.resources(executor.pids)
    },
    get lagMs() {
      return indexing.follow.lagMs
    },
    mirrorPath: mirrorPath(settings.dataDir),
  })
  return engine.api({
    startedAt: new Date(startedAtMs).toISOString(),
    page: pageFiles(context.pageDir),
    access: {
      publicUrl: settings.http.publicUrl,
      // Read at each request: the token may have been replaced.
      get token() {
        return token === null ? null : readToken(settings.dataDir)
      },
      tokenRequired: token !== null,
      allowedHosts,
    },
    live,
    subscribe: (listener) => hub.subscribe(listener),
    reportFault: (error) => {
      log.error({ stack: stackWithoutText(error) }, 'a request failed')
      indexing.onReaderError(error)
    },
  })
}
