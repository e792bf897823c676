import { startDaemon, type DaemonWorld } from '../daemon/main.ts'
import type { Settings } from '../settings.ts'

const STOP_WITHIN_MS = 1900

/** Runs the daemon in the foreground until SIGINT or SIGTERM; both stop it cleanly within two seconds. */
export async function serveForever(settings: Settings, world: DaemonWorld): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    process.on('SIGINT', () => resolve())
    process.on('SIGTERM', () => resolve())
  })
  const daemon = await startDaemon(settings, world)
  await stopped
  // A pass in the middle of a long step is let go: its transaction never happened.
  setTimeout(() => process.exit(0), STOP_WITHIN_MS).unref()
  await daemon.stop()
}
