import { setTimeout as sleep } from 'node:timers/promises'
import { UserError } from '../../model/user-error.ts'
import { namesLivingDaemon } from '../../engine/data-folder.ts'

/** The same time as commands wait for each other. */
const WAIT_MS = 30_000
/** How long another daemon, which may be stopping, has to release the lock. */
const DAEMON_WAIT_MS = 1500
const TRY_EVERY_MS = 100

/**
 * Starts something that takes the lock until it ends. A command that reads Cursor without a daemon has the lock, maybe for
 * as long as a first pass takes. While it waits, nothing is open.
 * @param onWait is called once if a command has the lock
 * @param isStopping ends the waiting
 * @returns null if `isStopping` became true while it waited
 */
export async function startUnlessRead<Started>(
  dataDir: string,
  start: () => Promise<Started>,
  onWait: () => void,
  isStopping: () => boolean,
): Promise<Started | null> {
  const beganAtMs = Date.now()
  for (let isSaid = false; !isStopping(); await sleep(TRY_EVERY_MS)) {
    try {
      return await start()
    } catch (error) {
      const isLocked = error instanceof UserError && error.code === 'already-running'
      const isDaemon = namesLivingDaemon(dataDir)
      if (!isLocked || Date.now() - beganAtMs >= (isDaemon ? DAEMON_WAIT_MS : WAIT_MS)) throw error
      if (!isDaemon && !isSaid) onWait()
      isSaid ||= !isDaemon
    }
  }
  return null
}
