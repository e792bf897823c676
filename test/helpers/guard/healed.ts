import { runToCompletion } from '../../../src/engine/deferred.ts'
import { runPasses } from '../../../src/engine/writer/run-passes.ts'
import type { MirrorMaintenance } from '../../../src/engine/writer/maintenance.ts'
import type { UpkeepOutcome, UpkeepTask } from '../../../src/engine/writer/messages.ts'
import { discoverSources } from '../../../src/indexer/discover.ts'
import type { PassDepth } from '../../../src/indexer/source.ts'
import { isDamage } from '../../../src/mirror/damage/find-damage.ts'

export const keepNow = (kept: MirrorMaintenance, task: UpkeepTask): UpkeepOutcome => runToCompletion(kept.run(task))

/** The check that the daemon runs on a mirror at its start after a crash, and the repair. */
export function keepSound(kept: MirrorMaintenance): UpkeepOutcome {
  if (keepNow(kept, 'check').isDamaged) keepNow(kept, 'repair')
  return keepNow(kept, 'open')
}

/** A complete pass over this Cursor home. If it meets damage, the mirror is repaired, and the pass is repeated. */
export function passOver(kept: MirrorMaintenance, userDir: string, depth: PassDepth = 'nudge'): void {
  const places = { userDirs: [userDir], homes: [], disabledKinds: [] }
  const sources = discoverSources(places).map(({ id }) => ({ id, depth }))
  const pass = (): unknown =>
    runToCompletion(runPasses(kept.db, places, { kind: 'run', sources, backlogMs: Infinity }, Date.now))
  try {
    pass()
  } catch (error) {
    if (!isDamage(error)) throw error
    keepNow(kept, 'repair')
    pass()
  }
}
