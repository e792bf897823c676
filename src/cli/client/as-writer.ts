import { join } from 'node:path'
import { mirrorPath } from '../../engine/data-folder.ts'
import { diskFull, isOfFullDisk } from '../../engine/disk-full.ts'
import type { UpkeepOutcome, UpkeepTask } from '../../engine/writer-messages.ts'
import { MirrorMaintenance } from '../../engine/maintenance.ts'
import { takeLock } from '../../engine/lock.ts'
import { runToCompletion } from '../../engine/run-to-completion.ts'
import { keepCopiesIn, removeCopies } from '../../indexer/open-safely/checked-copy.ts'
import { damageOf } from '../../mirror/maintenance/check-pages.ts'
import type { Settings } from '../../settings.ts'

/** Short, for nothing else happens in this process meanwhile; whoever asks may try again. */
const LOCK_WAIT_MS = 250

/** Holds the daemon's lock while something is written: the mirror has one writer at any time. */
export async function withWriterLock<Outcome>(
  settings: Settings,
  note: (text: string) => void,
  act: (kept: MirrorMaintenance) => Outcome | Promise<Outcome>,
): Promise<Outcome> {
  const lock = takeLock(settings.dataDir, LOCK_WAIT_MS)
  try {
    const kept = new MirrorMaintenance(mirrorPath(settings.dataDir), Date.now)
    keepCopiesIn(join(settings.dataDir, 'copies'))
    try {
      return await keepSound(kept, note, () => act(kept))
    } finally {
      removeCopies()
      kept.close()
    }
  } catch (error) {
    const isFull = error instanceof Error && 'code' in error && isOfFullDisk(String(error.code))
    throw isFull ? diskFull(settings.dataDir, error) : error
  } finally {
    lock.release()
  }
}

/** A command checks nothing beforehand; a mirror that turns out to be damaged is mended, and the act tried once more. */
async function keepSound<Outcome>(
  kept: MirrorMaintenance,
  note: (text: string) => void,
  act: () => Outcome | Promise<Outcome>,
): Promise<Outcome> {
  const keep = (task: UpkeepTask): UpkeepOutcome => {
    const outcome = runToCompletion(kept.keep(task))
    for (const sentence of outcome.news) note(sentence)
    return outcome
  }
  const { damage: found } = keep({ task: 'salvage', suspected: 'none' })
  if (found === 'rows') keep({ task: 'set-aside', suspected: 'none' })
  try {
    return await act()
  } catch (error) {
    const suspected = damageOf(error)
    if (suspected === 'none') throw error
    const { damage } = keep({ task: 'check', suspected })
    if (damage === 'rows') keep({ task: 'set-aside', suspected: 'none' })
    return await act()
  }
}
