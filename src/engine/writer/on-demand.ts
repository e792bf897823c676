import { dirname } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { isDamage } from '../../mirror/damage/find-damage.ts'
import { indexPath, isFollowed } from '../../mirror/index/index-file.ts'
import { openReader } from '../../mirror/open.ts'
import { Turns } from '../deferred.ts'
import { takeLock, type Lock } from '../lock.ts'
import { startWriterThread } from '../start-writer-thread.ts'
import { startIndexThread, ThreadIndex, type IndexWriter } from './thread-index.ts'
import { diskFull, isOfFullDisk, ThreadWriter, type RunOrder, type Writer, type WriterSetup } from './writer.ts'

/** How long an act waits for the lock. Short, because the command does nothing else meanwhile. The user can try again. */
const LOCK_WAIT_MS = 250
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

/**
 * The writer and the index of a command without a daemon: the daemon's own threads, which run while there is something to
 * write. They have the daemon's lock, so the mirror never has two writers. If an act proves the mirror to be damaged, a
 * new one replaces it, and the act is repeated.
 */
export class WriterOnDemand {
  /** @throws UserError also `already-running`, `disk-full` */
  readonly writer: Writer = {
    run: (order) => this.#read(order),
    importUsage: (file) => this.#act(({ writer }) => writer.importUsage(file)),
    restore: (part) => this.#act(({ writer }) => writer.restore(part)),
    purge: (order) => this.#act(({ writer }) => writer.purge(order)),
    hub: (order) => this.#act(({ writer }) => writer.hub(order)),
  }
  readonly index: IndexWriter = {
    follow: () => this.#act((running) => this.#followed(running)),
    check: (isThorough) => this.#act((running) => this.#indexOf(running).check(isThorough)),
    forgetWords: () => this.#act((running) => this.#indexOf(running).forgetWords()),
  }
  readonly #setup: WriterSetup
  readonly #note: (text: string) => void
  readonly #threads: Threads
  #running: Running | null = null
  readonly #turns = new Turns()
  #idle: NodeJS.Timeout | undefined

  /** @param note prints sentences about repairs, and one if reading takes long */
  constructor(setup: WriterSetup, note: (text: string) => void, threads: Threads = realThreads) {
    this.#setup = setup
    this.#note = note
    this.#threads = threads
  }

  /** Ends the threads after what they do now, and releases the lock. The next act starts them again. */
  close(): Promise<void> {
    clearTimeout(this.#idle)
    return this.#turns.run(() => this.#stop())
  }

  async #read(order: RunOrder) {
    const timer = setTimeout(() => this.#note(LONG_RUN), LONG_RUN_MS)
    return this.#act(({ writer }) => writer.run(order)).finally(() => clearTimeout(timer))
  }

  async #followed(running: Running): Promise<void> {
    if (running.index === null && this.#isFollowed()) return
    await this.#indexOf(running).follow(true)
  }

  #isFollowed(): boolean {
    const { mirrorPath } = this.#setup
    const mirror = openReader(mirrorPath, { isIndexWanted: false })
    try {
      return isFollowed(indexPath(mirrorPath), mirror)
    } finally {
      mirror.close()
    }
  }

  #indexOf(running: Running): ThreadIndex {
    if (running.index !== null) return running.index
    const ignore = (): void => undefined
    running.index = new ThreadIndex(ignore, ignore)
    // Whoever waits for the index is told if it cannot be opened.
    running.index.open(this.#setup.mirrorPath, this.#threads.index).catch(ignore)
    return running.index
  }

  #act<Outcome>(act: (running: Running) => Promise<Outcome>): Promise<Outcome> {
    return this.#turns.run(() => this.#repairing(act))
  }

  async #repairing<Outcome>(act: (running: Running) => Promise<Outcome>): Promise<Outcome> {
    clearTimeout(this.#idle)
    try {
      return await this.#closingAfterFailure(act).catch((error: unknown) => {
        if (!isDamage(error)) throw error
        // The damage is noted, so the next opening makes a new mirror.
        return this.#closingAfterFailure(act)
      })
    } catch (error) {
      const isFull = error instanceof Error && 'code' in error && isOfFullDisk(String(error.code))
      throw isFull ? diskFull(dirname(this.#setup.mirrorPath), error) : error
    } finally {
      this.#idle = setTimeout(() => void this.close(), IDLE_MS).unref()
    }
  }

  async #closingAfterFailure<Outcome>(act: (running: Running) => Promise<Outcome>): Promise<Outcome> {
    try {
      return await act(await this.#start())
    } catch (error) {
      await this.#stop()
      throw error
    }
  }

  async #start(): Promise<Running> {
    if (this.#running !== null) return this.#running
    const lock = takeLock(dirname(this.#setup.mirrorPath), LOCK_WAIT_MS)
    const writer = new ThreadWriter(
      this.#threads.writer(),
      this.#setup,
      ({ chatIds }) => {
        if (chatIds.length > 0) this.#indexOf(running).nudge()
      },
      () => undefined,
    )
    const running: Running = { lock, writer, index: null }
    this.#running = running
    const { news } = await writer.opened
    if (news !== null) this.#note(news)
    return running
  }

  async #stop(): Promise<void> {
    const running = this.#running
    this.#running = null
    await running?.index?.stop()
    // The writer closes last. Then SQLite empties the mirror's WAL.
    await running?.writer.stop()
    running?.lock.release()
  }
}
