import { join } from 'node:path'
import type { ArchiveActs } from '../../src/api/http/archive-shapes.ts'
import { startArchiveHere } from '../../src/engine/archive-here.ts'
import { ArchiveSchedule } from '../../src/engine/archives/archive-schedule.ts'
import { Archives } from '../../src/engine/archives/archives.ts'
import { archiveActs } from '../../src/engine/archives/make-archives.ts'

const noRestore = (): Promise<never> => Promise.reject(new Error('nobody writes here'))

/** The archives of a mirror in the given folder, made in the test's own process. */
export function archivesHere(folder: string, mirrorPath: string): ArchiveActs {
  const acts = {
    now: Date.now,
    start: startArchiveHere,
    restore: noRestore,
    tell: () => undefined,
    say: () => undefined,
  }
  const setup = {
    dir: join(folder, 'archives'),
    dataDir: folder,
    mirrorPath,
    version: '1.2.3',
    canRestore: true,
  }
  const archives = new Archives(setup, acts)
  const world = { now: Date.now, archives, zone: () => 'UTC', warn: () => undefined }
  return archiveActs(archives, new ArchiveSchedule([], world))
}
