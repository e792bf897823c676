import { UserError } from '../../model/user-error.ts'
import { hasDaemonFile, removeDaemonFile, writeDaemonFile, type DaemonFile } from '../../engine/data-folder.ts'
import { deferred } from '../../engine/deferred.ts'
import type { Lock } from '../../engine/lock.ts'

/** Two looks at a folder that the system has at hand. */
const LOOK_MS = 5000

/**
 * The daemon's place in its data folder: that commands find it by `daemon.json`, which somebody may have swept away, and
 * that the folder is the one it began with. Where it was moved, removed or replaced, what is written reaches a file that
 * nobody finds, and the lock keeps nobody off what lies there now.
 */
export class DataFolderMonitor {
  /** Rejects with UserError `data-folder-lost`; never resolves. */
  readonly lost: Promise<never>
  readonly #dataDir: string
  readonly #lock: Lock
  readonly #told: DaemonFile
  readonly #timer: NodeJS.Timeout
  /** What lies there may be of a daemon that was killed. */
  #isTold = false

  constructor(dataDir: string, lock: Lock, told: DaemonFile) {
    this.#dataDir = dataDir
    this.#lock = lock
    this.#told = told
    this.#tell()
    const lost = deferred<never>()
    this.lost = lost.promise
    // Whoever stops it before asks no more.
    this.lost.catch(() => undefined)
    this.#timer = setInterval(() => {
      if (!lock.isInPlace()) lost.reject(folderLost(dataDir))
      else this.#tell()
    }, LOOK_MS)
  }

  /** What another daemon wrote, where the folder is another by now, is left to it. */
  leave(): void {
    clearInterval(this.#timer)
    if (!this.#lock.isInPlace()) return
    try {
      removeDaemonFile(this.#dataDir)
    } catch {
      // In a folder that may only be read by now it stays, and names a process that is gone: the rest is to be ended.
    }
  }

  #tell(): void {
    if (this.#isTold && hasDaemonFile(this.#dataDir)) return
    try {
      writeDaemonFile(this.#dataDir, this.#told)
      this.#isTold = true
    } catch {
      // No room, or no right to write now: the next look may find it otherwise.
    }
  }
}

const folderLost = (dataDir: string): UserError =>
  new UserError(
    'data-folder-lost',
    `The data folder ${dataDir}, or the daemon.lock in it, was moved, removed or replaced while the daemon ran, which therefore ended.`,
    'Start it again, with --data-dir where the folder lies elsewhere now: what Cursor holds is read again.',
  )
