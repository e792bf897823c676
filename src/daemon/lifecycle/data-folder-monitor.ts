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
 * @returns lost: rejects with UserError `data-folder-lost` or `mirror-lost`, and never resolves. leave: removes
 *   `daemon.json`, unless the folder is another one by now: its file may belong to another daemon
 */
export function monitorDataFolder(dataDir: string, mirrorPath: string, lock: Lock, content: DaemonFile) {
  // An existing file may come from a daemon that was killed.
  let isWritten = false
  const writeIfMissing = (): void => {
    if (isWritten && hasDaemonFile(dataDir)) return
    try {
      writeDaemonFile(dataDir, content)
      isWritten = true
    } catch {
      // The disk is full or writing is forbidden. The next check tries again.
    }
  }
  writeIfMissing()
  const lost = deferred<never>()
  // Nobody may be listening after a stop.
  lost.promise.catch(() => undefined)
  const mirror = identityAt(mirrorPath)
  const timer = setInterval(() => {
    if (!lock.isInPlace()) lost.reject(hasLost(`data folder ${dataDir}, or the daemon.lock in it,`, 'data-folder-lost'))
    else if (identityAt(mirrorPath) !== mirror) lost.reject(hasLost(`mirror ${mirrorPath}`, 'mirror-lost'))
    else writeIfMissing()
  }, CHECK_MS)
  const leave = (): void => {
    clearInterval(timer)
    if (!lock.isInPlace()) return
    try {
      removeDaemonFile(dataDir)
    } catch {
      // The folder became read-only. The file stays and names a process that has ended. The daemon must stop all the same.
    }
  }
  return { lost: lost.promise, leave }
}

function hasLost(what: string, code: 'data-folder-lost' | 'mirror-lost'): UserError {
  const hint =
    code === 'mirror-lost'
      ? 'Start it again: it continues with the file that is there then, and reads Cursor again.'
      : 'Start it again. If the folder is somewhere else now, name it with --data-dir. Cursor is then read again.'
  const text = `The ${what} was moved, removed or replaced while the daemon ran. Therefore the daemon ended.`
  return new UserError(code, text, hint)
}
