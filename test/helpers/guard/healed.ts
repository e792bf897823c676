import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runPasses } from '../../../src/engine/writer/run-passes.ts'
import { MirrorMaintenance } from '../../../src/engine/writer/maintenance.ts'
import { discoverSources } from '../../../src/indexer/discover.ts'
import { isDamage } from '../../../src/mirror/damage/find-damage.ts'
import type { PassDepth } from '../../../src/model/pass.ts'
import { listSalvages, type SalvageNotice } from '../../../src/mirror/damage/replace-mirror.ts'

/** Opens the mirror as the daemon does after a crash. @returns what is said of damaged mirrors */
export const keepSound = (kept: MirrorMaintenance): SalvageNotice[] => listSalvages(kept.db, kept.path)

/** Opens a mirror with these bytes in a folder of its own. */
export async function withMirror<Value>(
  { main, wal }: { readonly main: Buffer; readonly wal?: Buffer },
  act: (kept: MirrorMaintenance) => Promise<Value>,
): Promise<Value> {
  const folder = mkdtempSync(join(tmpdir(), 'cursordex-damaged-'))
  const path = join(folder, 'mirror.db')
  writeFileSync(path, main)
  if (wal !== undefined) writeFileSync(`${path}-wal`, wal)
  const kept = new MirrorMaintenance(path)
  try {
    kept.db.pragma('synchronous = off')
    return await act(kept)
  } finally {
    kept.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Replaces the mirror, as after an error that means damage. */
function repair(kept: MirrorMaintenance): void {
  kept.noteDamage()
  if (kept.db.open) kept.close()
  void kept.db
}

/** A complete pass over this Cursor home. If it meets damage, the mirror is repaired, and the pass is repeated. */
export async function passOver(kept: MirrorMaintenance, userDir: string, depth: PassDepth = 'tail'): Promise<void> {
  const places = { userDirs: [userDir], homes: [], disabledKinds: [] }
  const sources = discoverSources(places).map(({ id }) => ({ id, depth, isAsked: depth === 'values' }))
  const context = { now: Date.now, turn: async () => undefined }
  const pass = (): Promise<unknown> => runPasses(kept.db, places, { sources, backlogMs: Infinity }, context)
  try {
    await pass()
  } catch (error) {
    if (!isDamage(error)) throw error
    repair(kept)
    await pass()
  }
}
