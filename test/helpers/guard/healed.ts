import { runPasses } from '../../../src/engine/writer/run-passes.ts'
import type { MirrorMaintenance } from '../../../src/engine/writer/maintenance.ts'
import { discoverSources } from '../../../src/indexer/discover.ts'
import type { PassDepth } from '../../../src/indexer/source.ts'
import { isDamage } from '../../../src/mirror/damage/find-damage.ts'
import { listSalvages, type SalvageNotice } from '../../../src/mirror/damage/replace-mirror.ts'

/** Opens the mirror as the daemon does after a crash. @returns what is said of damaged mirrors */
export const keepSound = (kept: MirrorMaintenance): SalvageNotice[] => listSalvages(kept.db, kept.path)

/** Replaces the mirror, as after an error that means damage. */
export function repair(kept: MirrorMaintenance): void {
  kept.noteDamage()
  if (kept.db.open) kept.close()
  void kept.db
}

/** A complete pass over this Cursor home. If it meets damage, the mirror is repaired, and the pass is repeated. */
export function passOver(kept: MirrorMaintenance, userDir: string, depth: PassDepth = 'nudge'): void {
  const places = { userDirs: [userDir], homes: [], disabledKinds: [] }
  const sources = discoverSources(places).map(({ id }) => ({ id, depth }))
  const pass = (): void => {
    for (const _ of runPasses(kept.db, places, { kind: 'run', sources, backlogMs: Infinity }, Date.now));
  }
  try {
    pass()
  } catch (error) {
    if (!isDamage(error)) throw error
    repair(kept)
    pass()
  }
}
