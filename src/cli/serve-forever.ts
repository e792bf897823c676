import { setTimeout as sleep } from 'node:timers/promises'
import { startDaemon, type Daemon, type DaemonContext } from '../daemon/main.ts'
import { UserError } from '../model/user-error.ts'
import type { Settings } from '../settings.ts'
import { findDaemon } from './client/client.ts'

const STOP_WITHIN_MS = 1900

/** Something that runs beside the daemon. */
export interface Companion {
  /** Is called before the daemon starts. Signals are handled already. */
  setUp(): void
  /** Is called when the daemon listens. Resolves when its output is complete, or soon after `isStopping` returns true. */
  started(settings: Settings, isStopping: () => boolean): Promise<void>
}

/**
 * Runs the daemon in the foreground until SIGINT or SIGTERM. Both stop it within two seconds: cleanly, or by the signal itself.
 * @throws UserError if it cannot start or cannot continue
 */
export async function serveForever(settings: Settings, context: DaemonContext, companion?: Companion): Promise<void> {
  let isStopping = false
  const stopped = new Promise<void>((resolve) => {
    const stop = (signal: NodeJS.Signals): void => {
      isStopping = true
      resolve()
      setTimeout(() => endBySignal(signal), STOP_WITHIN_MS).unref()
    }
    for (const signal of ['SIGINT', 'SIGTERM'] as const) replaceListeners(signal, stop)
    // The terminal closed. A plain daemon may be meant to continue (nohup). A companion must clean up.
    if (companion !== undefined) process.on('SIGHUP', stop)
  })
  companion?.setUp()
  const start = (): Promise<Daemon> => startDaemon(settings, context)
  const daemon = await startWhenFree(settings.dataDir, start, () => isStopping)
  if (daemon === null) return
  let exitCode = 0
  try {
    await Promise.race([stopped, daemon.lost, companion?.started(settings, () => isStopping)])
    await Promise.race([stopped, daemon.lost])
  } catch (error) {
    exitCode = 1
    throw error
  } finally {
    setTimeout(() => process.exit(exitCode), STOP_WITHIN_MS).unref()
    await daemon.stop()
  }
}

/** How long a command that reads Cursor may have the lock, and a daemon, which may be stopping. */
const [COMMAND_WAIT_MS, DAEMON_WAIT_MS] = [30_000, 1500]
const TRY_EVERY_MS = 100

/** Starts the daemon when nobody has the lock. @returns null if `isStopping` became true while it waited */
async function startWhenFree(
  dataDir: string,
  start: () => Promise<Daemon>,
  isStopping: () => boolean,
): Promise<Daemon | null> {
  for (const beganAtMs = Date.now(); !isStopping(); await sleep(TRY_EVERY_MS)) {
    try {
      return await start()
    } catch (error) {
      const isLocked = error instanceof UserError && error.code === 'already-running'
      const waitMs = isLocked && (await findDaemon(dataDir)) === null ? COMMAND_WAIT_MS : DAEMON_WAIT_MS
      if (!isLocked || Date.now() - beganAtMs >= waitMs) throw error
    }
  }
  return null
}

/**
 * Ends a check or repair of the mirror, which is made again, and a long step of a pass, whose transaction is rolled back.
 * `process.exit` would wait for SQLite, and a query of Cursor's own may never end.
 */
function endBySignal(signal: NodeJS.Signals): void {
  // What a companion removes at the end.
  process.emit('exit', 1)
  process.removeAllListeners(signal)
  process.kill(process.pid, signal)
}

/**
 * Replaces the listener that ends the process at once while it loads. The new one is added first: a signal that arrives
 * while nobody listens is lost.
 */
function replaceListeners(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): void {
  const former = process.listeners(signal)
  process.on(signal, listener)
  for (const other of former) process.off(signal, other)
}
