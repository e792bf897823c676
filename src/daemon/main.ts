import type { Worker } from 'node:worker_threads'
import { Histories } from '../git/histories.ts'
import { disabledKindsOf, realSurroundings } from '../settings.ts'
import type { Settings } from '../settings.ts'
import { apiWorlds, type ApiParts } from './server/api-context.ts'
import type { Archives } from '../engine/archives/archives.ts'
import { startArchiveProcess } from '../engine/archive-process.ts'
import type { ArchiveSchedule } from '../engine/archives/archive-schedule.ts'
import { archiveActs, makeArchives } from '../engine/archives/make-archives.ts'
import { mirrorPath, prepareDataFolder, removeDaemonFile } from '../engine/data-folder.ts'
import { Estimation } from './estimation/estimation.ts'
import { startEstimator } from '../engine/estimator.ts'
import { EventHub } from './server/event-hub.ts'
import { Indexing } from './follow/indexing.ts'
import { requireScopes } from './lifecycle/job-scopes.ts'
import { DataFolderMonitor } from './lifecycle/data-folder-monitor.ts'
import { lazyReader } from './server/lazy-reader.ts'
import { inMemoryBudget } from '../engine/one-order.ts'
import { asksForToken, listen, type Listening } from './server/listen.ts'
import { takeLock } from '../engine/lock.ts'
import { createLog, stackWithoutText, type LogOutput } from './lifecycle/log.ts'
import type { MemoryBudget } from '../engine/memory-budget.ts'
import { TermsCheck } from '../engine/check-terms.ts'
import { startupWarnings } from './lifecycle/startup-warnings.ts'
import { ProgressLine } from './lifecycle/progress-line.ts'
import { startSchedule, type Schedule } from './schedule.ts'
import { restoreIntoMirror } from './follow/restore-into.ts'
import { SearchPool } from '../engine/search-pool.ts'
import { daemonPurging } from './daemon-purging.ts'
import { misconfiguredFolders } from '../engine/misconfigured-folders.ts'

export interface DaemonWorld {
  readonly version: string
  /** The machine's time zone. */
  zone(): string
  readonly stdout: NodeJS.WritableStream
  readonly stderr: LogOutput
  /** The one that reads Cursor and writes the mirror: it may be at its loading still. */
  readonly ingestThread: Worker
  now(): number
}

export interface Daemon {
  readonly url: string
  /** Rejects with UserError where the data folder is no longer the daemon's; never resolves. */
  readonly lost: Promise<never>
  stop(): Promise<void>
}

/** How long the start waits for a command that reads Cursor itself, for want of a daemon, to let go of the lock. */
const LOCK_WAIT_MS = 1500

/**
 * The wiring, top to bottom: folder, lock, indexing, search, HTTP. Resolves once the port is open and told on stdout.
 * @throws UserError for each thing of the world that can be in the way
 */
export async function startDaemon(settings: Settings, world: DaemonWorld): Promise<Daemon> {
  process.umask(0o077)
  const { dataDir } = settings
  await requireScopes(settings, world)
  prepareDataFolder(dataDir)
  const lock = takeLock(dataDir, LOCK_WAIT_MS)
  const parts = assemble(settings, world)
  const { reader, log, indexing, searches, histories, estimation, archives, purging, startedAtMs } = parts
  const { userDirs, homes } = settings.cursor
  const progress = new ProgressLine(world.stderr)
  const makeWorld = apiWorlds(parts)
  try {
    // First, so that nobody is answered out of a mirror that is being made, or that is not ours to touch.
    await indexing.open()
    const server = await listen(settings.http.host, settings.http.port, async (hosts) => {
      const { answerFrom } = await import('./server/answer.ts')
      return answerFrom(makeWorld(hosts))
    })
    const place = new DataFolderMonitor(dataDir, lock, {
      pid: process.pid,
      url: server.url,
      startedAt: new Date(startedAtMs).toISOString(),
      version: world.version,
    })
    world.stdout.write(`cursordex listening on ${server.url}\n`)
    const around = startupWarnings([...userDirs, ...homes], asksForToken(settings))
    for (const sentence of [...around, ...misconfiguredFolders(userDirs)]) log.warn(sentence)
    const following = followCursor(parts, server, progress)
    estimation.begin()
    return {
      url: server.url,
      lost: place.lost,
      async stop() {
        progress.clear()
        following.stop()
        archives.stop()
        purging.stop()
        const ended = [searches.close(), estimation.stop()]
        histories.close()
        place.leave()
        await server.close()
        reader.close()
        await Promise.all(ended)
        // The writer closes last: then SQLite brings its WAL home, and the mirror is one file again.
        await indexing.stop()
        lock.release()
      },
    }
  } catch (error) {
    archives.stop()
    await searches.close()
    removeDaemonFile(dataDir)
    await indexing.stop()
    lock.release()
    throw error
  }
}

/**
 * Begins to follow Cursor, and then all that has time: what the rhythms and the HTTP side load takes some 50 ms, in which
 * the thread that reads would wait for its first order.
 */
function followCursor(parts: Parts, server: Listening, progress: ProgressLine): Schedule {
  const { indexing, purging } = parts
  let schedule: Schedule | null = null
  let isStopped = false
  const goOn = async (): Promise<void> => {
    await indexing.start()
    if (isStopped) return
    schedule = startRhythms(parts, progress)
    server.makeReady()
    await purging.resume()
  }
  void goOn()
  return {
    stop() {
      isStopped = true
      schedule?.stop()
    },
  }
}

/** Makes what works together; nothing of it begins to work by that. */
function assemble(settings: Settings, world: DaemonWorld): Parts {
  const startedAtMs = world.now()
  const log = createLog(settings.log.level, world.stderr)
  const path = mirrorPath(settings.dataDir)
  const hub = new EventHub()
  const disabledKinds = disabledKindsOf(settings)
  const { userDirs, homes } = settings.cursor
  const searches = new SearchPool(path, settings.search.deadlineMs, () => indexing.onDamage('terms'))
  const room = { make: () => searches.shareMemory(), giveBack: () => searches.haveMemory() }
  const reader = lazyReader(path)
  const { archives, archiveSchedule } = daemonArchives(settings, { world, log, hub, room }, () => indexing)
  const acts = archiveActs(archives, archiveSchedule)
  const readers = {
    shut: () => [reader, searches, estimation, archives].forEach((one) => one.shut()),
    reopen: () => [reader, searches, estimation].forEach((one) => one.reopen()),
  }
  const setup = { mirrorPath: path, userDirs, homes, disabledKinds }
  const termsCheck = new TermsCheck(path, room)
  const indexing = new Indexing(world.ingestThread, setup, { readers, termsCheck, log, hub, now: () => world.now() })
  const estimation = startEstimation(settings.tokens.estimate, { world, path, log, indexing, searches, archives, room })
  const histories = new Histories(realSurroundings().env)
  const purging = daemonPurging({
    settings,
    path,
    log,
    indexing,
    searches,
    archives,
    room,
    readers,
    others: [reader, estimation],
  })
  return {
    settings,
    world,
    path,
    reader,
    log,
    hub,
    indexing,
    searches,
    histories,
    estimation,
    archives,
    archiveSchedule,
    purging,
    acts,
    startedAtMs,
  }
}

type EstimationParts = Pick<Parts, 'world' | 'path' | 'log' | 'indexing' | 'searches' | 'archives'> & {
  readonly room: MemoryBudget
}

function startEstimation(isEnabled: boolean, parts: EstimationParts): Estimation {
  const { world, path, log, indexing, searches, archives, room } = parts
  const estimation = new Estimation(isEnabled, {
    log,
    now: () => world.now(),
    later: (act, delayMs) => indexing.later(act, delayMs),
    start: () => startEstimator(path),
    save: (estimates) => indexing.writer.saveEstimates(estimates),
    // The process that makes an archive, or purges, takes as much memory as the one that counts.
    isResting: () => indexing.isResting && !archives.isBusy,
    isSearching: () => searches.isBusy,
    room,
    onDamage: () => indexing.onDamage('none'),
  })
  indexing.onMessages = (count) => estimation.noteMessages(count)
  return estimation
}

type ArchivesParts = Pick<EstimationParts, 'world' | 'log' | 'room'> & { readonly hub: EventHub }

function daemonArchives(settings: Settings, { world, log, hub, room }: ArchivesParts, indexing: () => Indexing) {
  const path = mirrorPath(settings.dataDir)
  return makeArchives({
    settings,
    world,
    path,
    start: (order, onProgress) => inMemoryBudget(room, () => startArchiveProcess(order, onProgress)),
    restore: (order, onProgress) => restoreIntoMirror(indexing(), path, order, onProgress),
    tell: (data) => hub.send('archive', data),
    say: (level, sentence) => log[level](sentence),
  })
}

function startRhythms(parts: Parts, progress: ProgressLine): Schedule {
  const { indexing, estimation, archives, archiveSchedule, log } = parts
  return startSchedule({
    // Each of these takes as much memory as a process that searches; there is room for one of them.
    checkTermsIfDue: () => (estimation.isAtWork || archives.isBusy ? undefined : indexing.checkTermsIfDue()),
    reconcile: () => indexing.reconcileChanged(),
    // Before it is known that the mirror is sound nothing is archived.
    archive: () => (indexing.state === 'starting' ? undefined : archiveSchedule.tick()),
    showProgress: progress.isSeen ? () => progress.show(indexing.vitals.progress) : null,
    onFault: (error) => log.error({ stack: stackWithoutText(error) }, 'a rhythm failed'),
  })
}

interface Parts extends ApiParts {
  readonly archives: Archives
  readonly archiveSchedule: ArchiveSchedule
}
