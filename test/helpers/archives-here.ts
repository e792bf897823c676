import { join } from 'node:path'
import { Archives } from '../../src/engine/archives/archives.ts'
import type { RestorePart } from '../../src/engine/restore.ts'
import { openReader, type Mirror } from '../../src/mirror/open.ts'
import type { Settings } from '../../src/settings.ts'
import { executorHere } from './engine-here.ts'
import { restorePartHere } from './restored-mirror.ts'

/** The archives of a mirror in the given folder, made in the test's own process. @param writing null: nobody restores */
export function archivesHere(folder: string, mirrorPath: string, writing: Mirror | null = null): Archives {
  return new Archives(
    {
      archives: { dir: join(folder, 'archives'), jobs: [] },
      dataDir: folder,
      sources: { archive: { enabled: true } } as Settings['sources'],
    },
    {
      version: '1.2.3',
      executor: executorHere(mirrorPath, () => openReader(mirrorPath)),
      writer: {
        act: async (_, part) => {
          if (writing === null) throw new Error('nobody writes here')
          return restorePartHere(writing, part as RestorePart) as never
        },
      },
      index: { follow: async () => undefined },
      now: Date.now,
      zone: () => 'UTC',
      publish: () => undefined,
      log: () => undefined,
    },
  )
}
