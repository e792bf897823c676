import { startDaemon, type Daemon, type DaemonContext } from '../daemon/main.ts'
import { createLog } from '../daemon/lifecycle/log.ts'
import { startUnlessRead, waitUntilRead } from '../daemon/lifecycle/wait-for-lock.ts'
import type { Settings } from '../settings.ts'

const STOP_WITHIN_MS = 1900

/** What runs beside the daemon. */
export interface Companion {
  /** Before the daemon starts; a signal to stop is heard already. */
  setUp(): void
  /** The daemon listens. Done when there is nothing more to tell, or when `isStopping` says so. */
  started(settings: Settings, isStopping: () => boolean): Promise<void>
}

/**
 * Runs the daemon in the foreground until SIGINT or SIGTERM; both stop it cleanly within two seconds.
 * @throws UserError where it cannot start, or go on
 */
export async function serveForever(settings: Settings, world: DaemonContext, companion?: Companion): Promise<void> {
  // While it waits, and holds nothing, a signal ends it as it ends any program.
  await waitUntilRead(settings.dataDir, () =>
    createLog(settings.log.level, world.stderr).info(
      'A command is reading Cursor into this data folder: waiting until it is done.',
    ),
  )
  let isStopping = false
  const stopped = new Promise<void>((resolve) => {
    const stop = (): void => {
      isStopping = true
      resolve()
    }
    for (const signal of ['SIGINT', 'SIGTERM'] as const) hearInstead(signal, stop)
    // A terminal that closes. A daemon may have been told to outlive it (nohup); what runs beside one is to be put away.
    if (companion !== undefined) process.on('SIGHUP', stop)
  })
  companion?.setUp()
  const start = (): Promise<Daemon> => startDaemon(settings, world)
  const daemon = await startUnlessRead(settings.dataDir, start, () => isStopping)
  if (daemon === null) return
  let exitCode = 0
  try {
    await Promise.race([stopped, daemon.lost, companion?.started(settings, () => isStopping)])
    await Promise.race([stopped, daemon.lost])
  } catch (error) {
    exitCode = 1
    throw error
  } finally {
    // A pass in the middle of a long step is let go: its transaction never happened.
    setTimeout(() => process.exit(exitCode), STOP_WITHIN_MS).unref()
    await daemon.stop()
  }
}

/**
 * In place of who would end the process at once while it loads. Added before the other is removed: where nobody listens,
 * be it for a moment, a signal that is on its way is lost.
 */
function hearInstead(signal: NodeJS.Signals, heard: () => void): void {
  const before = process.listeners(signal)
  process.on(signal, heard)
  for (const other of before) process.off(signal, other)
}
