import { UserError } from '../../model/user-error.ts'
import { hasDaemonFile, removeDaemonFile, writeDaemonFile, type DaemonFile } from '../../engine/data-folder.ts'
import { deferred } from '../../engine/deferred.ts'
import type { Lock } from '../../engine/lock.ts'
import { identityAt } from '../../indexer/open-safely/cursor-file.ts'

/** A check costs four `stat` calls on a folder that the system has cached. */
const CHECK_MS = 5000

/**
 * Checks the data folder while the daemon runs. Commands find the daemon by `daemon.json`, so it is written again if
 * somebody removed it. If the folder or the mirror was moved, removed or replaced, nobody finds what the daemon writes, and
 * its lock does not protect the new folder.
 */
export class DataFolderMonitor {
  /** Rejects with UserError `data-folder-lost` or `mirror-lost`. Never resolves. */
  readonly lost: Promise<never>
  readonly #dataDir: string
  readonly #lock: Lock
  readonly #content: DaemonFile
  readonly #timer: NodeJS.Timeout
  /** False at first, because an existing file may come from a daemon that was killed. */
  #isWritten = false

  constructor(dataDir: string, mirrorPath: string, lock: Lock, content: DaemonFile) {
    this.#dataDir = dataDir
    this.#lock = lock
    this.#content = content
    this.#writeIfMissing()
    const lost = deferred<never>()
    const mirror = identityAt(mirrorPath)
    this.lost = lost.promise
    // Nobody may be listening after a stop.
    this.lost.catch(() => undefined)
    this.#timer = setInterval(() => {
      if (!lock.isInPlace()) lost.reject(folderLost(dataDir))
      else if (identityAt(mirrorPath) !== mirror) lost.reject(mirrorLost(mirrorPath))
      else this.#writeIfMissing()
    }, CHECK_MS)
  }

  /** Removes `daemon.json`, unless the folder is another one by now: its file may belong to another daemon. */
  leave(): void {
    clearInterval(this.#timer)
    if (!this.#lock.isInPlace()) return
    try {
      removeDaemonFile(this.#dataDir)
    } catch {
      // The folder became read-only. The file stays and names a process that has ended. The daemon must stop all the same.
    }
  }

  #writeIfMissing(): void {
    if (this.#isWritten && hasDaemonFile(this.#dataDir)) return
    try {
      writeDaemonFile(this.#dataDir, this.#content)
      this.#isWritten = true
    } catch {
      // The disk is full or writing is forbidden. The next check tries again.
    }
  }
}

const folderLost = (dataDir: string): UserError =>
  new UserError(
    'data-folder-lost',
    `The data folder ${dataDir}, or the daemon.lock in it, was moved, removed or replaced while the daemon ran. Therefore the daemon ended.`,
    'Start it again. If the folder is somewhere else now, name it with --data-dir. Cursor is then read again.',
  )

const mirrorLost = (path: string): UserError =>
  new UserError(
    'mirror-lost',
    `The mirror ${path} was moved, removed or replaced while the daemon ran. Therefore the daemon ended.`,
    'Start it again: it continues with the file that is there then, and reads Cursor again.',
  )
