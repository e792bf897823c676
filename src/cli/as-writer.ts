import { join } from 'node:path'
import { mirrorPath } from '../daemon/data-folder.ts'
import { diskFull, isOfFullDisk } from '../daemon/disk-full.ts'
import type { UpkeepOutcome, UpkeepTask } from '../daemon/ingest-messages.ts'
import { KeptMirror } from '../daemon/kept-mirror.ts'
import { takeLock } from '../daemon/lock.ts'
import { toEnd } from '../daemon/to-end.ts'
import { keepCopiesIn, removeCopies } from '../indexer/checked-copy.ts'
import { damageOf } from '../mirror/upkeep/check-pages.ts'
import type { Settings } from '../settings.ts'

/** Short, for nothing else happens in this process meanwhile; whoever asks may try again. */
const LOCK_WAIT_MS = 250

/** Holds the daemon's lock while something is written: the mirror has one writer at any time. */
export async function asWriter<Outcome>(
  settings: Settings,
  note: (text: string) => void,
  act: (kept: KeptMirror) => Outcome | Promise<Outcome>,
): Promise<Outcome> {
  const lock = takeLock(settings.dataDir, LOCK_WAIT_MS)
  try {
    const kept = new KeptMirror(mirrorPath(settings.dataDir), Date.now)
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
  kept: KeptMirror,
  note: (text: string) => void,
  act: () => Outcome | Promise<Outcome>,
): Promise<Outcome> {
  const keep = (task: UpkeepTask): UpkeepOutcome => {
    const outcome = toEnd(kept.keep(task))
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
