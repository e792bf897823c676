import type { Settings } from '../settings.ts'
import { runsOutOfReach } from '../engine/archives/archive-notes.ts'
import type { Archives } from '../engine/archives/archives.ts'
import type { Indexing } from './follow/indexing.ts'
import type { Logger } from './lifecycle/log.ts'
import type { SearchPool } from '../engine/search-pool.ts'
import { withMemoryBudget, type MemoryBudget } from '../engine/memory-budget.ts'
import type { Readers } from '../engine/maintenance.ts'
import { inPurgeProcess } from '../engine/purge-process.ts'
import { Purging } from '../engine/purge/purging.ts'

interface Parts {
  readonly settings: Settings
  /** The mirror's. */
  readonly path: string
  readonly log: Logger
  readonly indexing: Indexing
  readonly searches: SearchPool
  readonly archives: Archives
  /** For the process that is at work on it. */
  readonly room: MemoryBudget
  /** All that read the mirror. */
  readonly readers: Readers
  /** Those of them that are cheap to open again. */
  readonly others: readonly Readers[]
}

/** The purge of a running daemon: its indexer removes, and its readers forget. */
export function daemonPurging({
  settings,
  path,
  log,
  indexing,
  searches,
  archives,
  room,
  readers,
  others,
}: Parts): Purging {
  const setup = { dataDir: settings.dataDir, archiveDir: settings.archives.dir, mirrorPath: path }
  return new Purging(setup, {
    sync: () => indexing.sync({ full: false }),
    mirror: (order) => indexing.writer.purge(order),
    alone: (act) => archives.alone(act),
    doTask: (task, order, signal) => withMemoryBudget(room, () => inPurgeProcess(task, order, signal)),
    readers,
    renewReaders: () => {
      searches.renew()
      for (const one of others) {
        one.shut()
        one.reopen()
      }
    },
    forgetScopes: (match) => archives.notes.forgetText(match),
    outOfReach: () => runsOutOfReach(archives.notes, settings.archives.dir),
    say: (level, sentence) => log[level](sentence),
    later: (act, delayMs) => indexing.later(act, delayMs),
  })
}
