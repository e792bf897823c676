import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { RunningDaemon } from './running-daemon.ts'
import { waitUntil } from './wait-until.ts'
import type { ArchiveRestored, ArchiveRun } from '../../src/api/answers/archives.ts'

/** Archives everything, or what the body says, and waits until the archive is complete. */
export async function archiveAll(daemon: Pick<RunningDaemon, 'get' | 'post'>, body: unknown = {}): Promise<ArchiveRun> {
  const { name } = await daemon.post<ArchiveRun>('/api/archives', body)
  return waitUntil('the archive', async () => {
    const run = await daemon.get<ArchiveRun>(`/api/archives/${name}`)
    return run.state === 'running' ? null : run
  })
}

export const restore = (daemon: Pick<RunningDaemon, 'post'>, body: unknown = {}): Promise<ArchiveRestored> =>
  daemon.post<ArchiveRestored>('/api/archives/newest/restore', body)

/** Removes the mirror and keeps the archives. */
export function wipeMirror(dataDir: string): void {
  for (const ending of ['', '-wal', '-shm']) rmSync(join(dataDir, `mirror.db${ending}`), { force: true })
}
