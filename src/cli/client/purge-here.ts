import { runsOutOfReach } from '../../engine/archives/archive-notes.ts'
import type { Archives } from '../../engine/archives/archives.ts'
import { mirrorPath } from '../../engine/data-folder.ts'
import { inPurgeProcess } from '../../engine/purge-process.ts'
import { purgeMirror } from '../../engine/purge/purge-mirror.ts'
import { runToCompletion } from '../../engine/run-to-completion.ts'
import { Purging } from '../../engine/purge/purging.ts'
import type { PassDepth } from '../../indexer/source.ts'
import type { Settings } from '../../settings.ts'
import { withWriterLock } from './as-writer.ts'

interface Acts {
  /** Reads what is new in Cursor. */
  readonly catchUp: (depth: PassDepth) => Promise<unknown>
  readonly note: (text: string) => void
}

/** A purge by a command, for want of a daemon: each act upon the mirror holds its lock. */
export function purgingHere(settings: Settings, archives: Archives, { catchUp, note }: Acts): Purging {
  const { dataDir } = settings
  const setup = { dataDir, archiveDir: settings.archives.dir, mirrorPath: mirrorPath(dataDir) }
  return new Purging(setup, {
    sync: () => catchUp('reconcile'),
    mirror: (order) => withWriterLock(settings, note, (kept) => runToCompletion(purgeMirror(kept, order, Date.now))),
    alone: (act) => archives.alone(act),
    doTask: inPurgeProcess,
    readers: { shut: () => undefined, reopen: () => undefined },
    renewReaders: () => undefined,
    forgetScopes: (match) => archives.notes.forgetText(match),
    outOfReach: () => runsOutOfReach(archives.notes, settings.archives.dir),
    say: () => undefined,
  })
}
