import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { UserError } from '../../model/user-error.ts'
import { namesLivingDaemon } from '../../engine/data-folder.ts'
import { lockFile } from '../../engine/lock.ts'

/** As long as commands wait for each other. */
const WAIT_MS = 30_000
const TRY_EVERY_MS = 100

/**
 * Waits for a command that reads Cursor itself, for want of a daemon, and has as much to read as a daemon's first pass.
 * Not for a daemon: that tells of itself, and whoever takes the lock afterwards is refused.
 * @param onWait hears that there is one, once
 * @param isStopping ends the waiting
 */
export async function waitUntilRead(dataDir: string, onWait: () => void, isStopping = () => false): Promise<void> {
  const path = join(dataDir, 'daemon.lock')
  const endAtMs = Date.now() + WAIT_MS
  for (let hasTold = false; isHeld(path) && !namesLivingDaemon(dataDir) && Date.now() < endAtMs; hasTold = true) {
    if (isStopping()) return
    if (!hasTold) onWait()
    await sleep(TRY_EVERY_MS)
  }
}

/**
 * Starts what takes the lock for good. A command may have been quicker to take it since nobody held it: what was refused
 * for that alone waits for it, too, and is tried again.
 * @returns null where it was told to stop while it waited
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
      const isHeldOff = error instanceof UserError && error.code === 'already-running'
      if (!isHeldOff || namesLivingDaemon(dataDir) || Date.now() >= endAtMs) throw error
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
    // What is in the way is told by who takes the lock for good.
    return false
  }
}
