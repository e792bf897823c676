import { join } from 'node:path'
import type { ArchiveActs } from '../../src/api/http/schemas/archives.ts'
import { ArchiveSchedule } from '../../src/engine/archives/archive-schedule.ts'
import { Archives } from '../../src/engine/archives/archives.ts'
import { InlineExecutor } from '../../src/engine/executor/inline-executor.ts'
import { openReader } from '../../src/mirror/open.ts'

const noRestore = (): Promise<never> => Promise.reject(new Error('nobody writes here'))

/** The archives of a mirror in the given folder, made in the test's own process. */
export function archivesHere(
  folder: string,
  mirrorPath: string,
  restore: ConstructorParameters<typeof Archives>[1]['restore'] = noRestore,
): ArchiveActs & Pick<Archives, 'alone'> {
  const archives = new Archives(
    { dir: join(folder, 'archives'), dataDir: folder, version: '1.2.3', canRestore: true },
    {
      now: Date.now,
      executor: new InlineExecutor(mirrorPath, () => openReader(mirrorPath)),
      restore,
      publish: () => undefined,
      log: () => undefined,
    },
  )
  const schedule = new ArchiveSchedule([], { now: Date.now, archives, zone: () => 'UTC' })
  return Object.assign(archives, { health: () => schedule.health })
}
