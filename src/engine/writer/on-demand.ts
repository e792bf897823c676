import { dirname } from 'node:path'
import type { Worker } from 'node:worker_threads'
import type { PassStep } from '../../indexer/source.ts'
import { codeOf, isDamage } from '../../mirror/damage/find-damage.ts'
import { isFollowed } from '../../mirror/index/index-file.ts'
import { openReader } from '../../mirror/open.ts'
import { Turns } from '../deferred.ts'
import { takeLock, type Lock } from '../lock.ts'
import { startWriterThread } from '../start-writer-thread.ts'
import { startIndexThread, threadIndex, type IndexWriter, type ThreadIndex } from './thread-index.ts'
import { threadWriter, type ThreadWriter, type Writer, type WriterSetup } from './writer.ts'
import { diskFull, isOfFullDisk } from './own-thread.ts'

/** How long an act waits for the lock. Short, because the command does nothing else meanwhile. The user can try again. */
const LOCK_WAIT_MS = 250
/** The same for an act that a person asked for. */
const PATIENT_WAIT_MS = 30_000
/** The threads end so long after an act, and others get the lock. The next part of a restore comes sooner. */
const IDLE_MS = 200
const LONG_RUN_MS = 1000
const LONG_RUN = 'Reading Cursor first. "cursordex serve" does this in the background.'

/** How the threads are started. */
export interface Threads {
  writer(): Worker
  index(mirrorPath: string): Worker
}

const realThreads: Threads = { writer: startWriterThread, index: startIndexThread }

interface Running {
  readonly lock: Lock
  readonly writer: ThreadWriter
  /** Null until it has something to do. */
  index: ThreadIndex | null
}

const ignore = (): void => undefined

/**
 * The writer and the index of a command without a daemon: the daemon's own threads, which run while there is something to
 * write. They have the daemon's lock, so the mirror never has two writers. If an act proves the mirror to be damaged, a
 * new one replaces it, and the act is repeated.
 * @param note prints sentences about repairs, and one if reading takes long
 * @returns both, whose acts also throw UserError `already-running` and `disk-full`. close: ends the threads after what
 *   they do now, and releases the lock; the next act starts them again
 */
export function writerOnDemand(setup: WriterSetup, note: (text: string) => void, threads: Threads = realThreads) {
  const { mirrorPath } = setup
  const turns = new Turns()
  let running: Running | null = null
  let isPatient = false
  /** A hub's chat may fill most of the memory that a pull has: it is written first and indexed then. */
  let isPulling = false
  let idle: NodeJS.Timeout | undefined

  const start = async (): Promise<Running> => {
    if (running !== null) return running
    const lock = takeLock(dirname(mirrorPath), isPatient ? PATIENT_WAIT_MS : LOCK_WAIT_MS)
    const onStep = ({ outcome }: PassStep): void => {
      if (!isPulling && (outcome?.chatIds.length ?? 0) > 0) indexOf(started).nudge()
    }
    const writer = threadWriter(threads.writer(), setup, onStep, ignore)
    const started: Running = { lock, writer, index: null }
    running = started
    const { news } = await writer.opened
    if (news !== null) note(news)
    return started
  }
  const stop = async (): Promise<void> => {
    const ending = running
    running = null
    await ending?.index?.stop()
    // The writer closes last. Then SQLite empties the mirror's WAL.
    await ending?.writer.stop()
    ending?.lock.release()
  }
  const indexOf = (started: Running): ThreadIndex => {
    if (started.index !== null) return started.index
    started.index = threadIndex(mirrorPath, ignore, ignore)
    // Whoever waits for the index is told if it cannot be opened.
    started.index.open((path) => threads.index(path)).catch(ignore)
    return started.index
  }
  const isIndexed = (): boolean => {
    const mirror = openReader(mirrorPath, { isIndexWanted: false })
    try {
      return isFollowed(mirror)
    } finally {
      mirror.close()
    }
  }

  const stoppingAfterFailure = async <Outcome>(act: (started: Running) => Promise<Outcome>): Promise<Outcome> => {
    try {
      return await act(await start())
    } catch (error) {
      await stop()
      throw error
    }
  }
  const repairing = async <Outcome>(act: (started: Running) => Promise<Outcome>): Promise<Outcome> => {
    clearTimeout(idle)
    try {
      return await stoppingAfterFailure(act).catch((error: unknown) => {
        if (!isDamage(error)) throw error
        // The damage is noted, so the next opening makes a new mirror.
        return stoppingAfterFailure(act)
      })
    } catch (error) {
      throw isOfFullDisk(codeOf(error)) ? diskFull(dirname(mirrorPath), error) : error
    } finally {
      idle = setTimeout(() => void close(), IDLE_MS).unref()
    }
  }
  const inTurn = <Outcome>(act: (started: Running) => Promise<Outcome>): Promise<Outcome> =>
    turns.run(() => repairing(act))
  const close = (): Promise<void> => {
    clearTimeout(idle)
    return turns.run(stop)
  }

  const writer: Writer = {
    act(act, order) {
      const timer = act === 'run' ? setTimeout(() => note(LONG_RUN), LONG_RUN_MS) : undefined
      return inTurn((started) => {
        isPulling = act === 'hub'
        return started.writer.act(act, order)
      }).finally(() => clearTimeout(timer))
    },
  }
  const index: IndexWriter = {
    follow: () =>
      inTurn(async (started) => {
        if (started.index === null && isIndexed()) return
        // Only its lock is still needed. The next act starts it again.
        if (isPulling) await started.writer.stop()
        await indexOf(started).follow(true)
        if (isPulling) await stop()
      }),
    check: (isThorough) => inTurn((started) => indexOf(started).check(isThorough)),
    forgetWords: () => inTurn((started) => indexOf(started).forgetWords()),
  }
  /** From now on an act waits until another command is done. At first a starting daemon may have the lock, and answers soon. */
  const waitLonger = (): void => void (isPatient = true)
  return { writer, index, close, waitLonger }
}
