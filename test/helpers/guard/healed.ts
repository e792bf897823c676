import { runPasses } from '../../../src/engine/writer/run-passes.ts'
import type { MirrorMaintenance } from '../../../src/engine/writer/maintenance.ts'
import type { UpkeepOutcome, UpkeepTask } from '../../../src/engine/writer/messages.ts'
import { discoverSources } from '../../../src/indexer/discover.ts'
import type { PassDepth } from '../../../src/indexer/source.ts'

export function keepNow(
  kept: MirrorMaintenance,
  task: UpkeepTask['task'],
  suspected: UpkeepTask['suspected'] = 'none',
): UpkeepOutcome {
  const steps = kept.run({ task, suspected })
  for (let next = steps.next(); ; next = steps.next()) if (next.done === true) return next.value
}

/** The checks that the daemon runs on a mirror at its start and once a week. */
export function keepSound(kept: MirrorMaintenance): UpkeepOutcome {
  for (const task of ['check', 'check-terms'] as const) {
    const { damage } = keepNow(kept, task)
    if (damage === 'rows') keepNow(kept, 'set-aside')
  }
  return keepNow(kept, 'salvage')
}

/** A complete pass over this Cursor home. */
export function passOver(kept: MirrorMaintenance, userDir: string, depth: PassDepth = 'nudge'): void {
  const places = { userDirs: [userDir], homes: [], disabledKinds: [] }
  const sources = discoverSources(places).map(({ id }) => ({ id, depth }))
  const steps = runPasses(kept.db, places, { kind: 'run', sources, backlogMs: Infinity }, Date.now)
  while (steps.next().done !== true);
}
