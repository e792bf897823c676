import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { UserError } from '../../model/user-error.ts'
import { namesLivingDaemon } from '../../engine/data-folder.ts'
import { lockFile } from '../../engine/lock.ts'

/** The same time as commands wait for each other. */
const WAIT_MS = 30_000
const TRY_EVERY_MS = 100

/**
 * Waits for a command that reads Cursor without a daemon. That can take as long as a daemon's first pass. It does not wait
 * for another daemon, which has a `daemon.json`: taking the lock afterwards then fails.
 * @param onWait is called once if there is such a command
 * @param isStopping ends the waiting
 */
export async function waitUntilRead(dataDir: string, onWait: () => void, isStopping = () => false): Promise<void> {
  const path = join(dataDir, 'daemon.lock')
  const endAtMs = Date.now() + WAIT_MS
  for (let isFirst = true; isHeld(path) && !namesLivingDaemon(dataDir) && Date.now() < endAtMs; isFirst = false) {
    if (isStopping()) return
    if (isFirst) onWait()
    await sleep(TRY_EVERY_MS)
  }
}

/**
 * Starts something that takes the lock until it ends. A command may take the lock right before. Then this waits for the
 * command and tries again.
 * @returns null if `isStopping` became true while it waited
 */
export async function startUnlessRead<Started>(
  dataDir: string,
  start: () => Promise<Started>,
  isStopping = () => false,
): Promise<Started | null> {
  const endAtMs = Date.now() + WAIT_MS
  for (;;) {
    try {
      return await start()
    } catch (error) {
      const isLocked = error instanceof UserError && error.code === 'already-running'
      if (!isLocked || namesLivingDaemon(dataDir) || Date.now() >= endAtMs) throw error
    }
    await waitUntilRead(dataDir, () => undefined, isStopping)
    if (isStopping()) return null
  }
}

function isHeld(path: string): boolean {
  if (!existsSync(path)) return false
  try {
    const lock = lockFile(path, 0)
    lock?.release()
    return lock === null
  } catch {
    // Whoever takes the lock afterwards reports the error.
    return false
  }
}
