import { dropSetAside } from '../../mirror/damage/replace-mirror.ts'
import { purgeRows, type PurgePlan } from '../../mirror/purge/purge-rows.ts'
import type { PurgeScope } from '../../mirror/purge/scope.ts'
import { acceptLost, compact, isDone, noteStage } from '../../mirror/purge/stages.ts'
import type { MirrorMaintenance } from '../writer/maintenance.ts'

/** What the mirror's only writer does for a purge. */
export type MirrorPurgeOrder =
  /** Opening the mirror finishes what an interrupted purge left in its rows. */
  | { readonly act: 'open' }
  | { readonly act: 'remove'; readonly scope: PurgeScope; readonly isDryRun: boolean }
  /** The last step, after the archives. */
  | { readonly act: 'compact' }
  /** Goes on without the bars that are missing. */
  | { readonly act: 'accept' }

export interface MirrorPurgeOutcome {
  /** What is removed from the mirror; null after other acts. */
  readonly plan: PurgePlan | null
  /** False if archives or the mirror's file may still contain bytes of what was removed. */
  readonly isDone: boolean
}

export function purgeMirror(kept: MirrorMaintenance, order: MirrorPurgeOrder, now: () => number): MirrorPurgeOutcome {
  const plan = order.act === 'remove' ? purgeRows(kept.db, order.scope, order.isDryRun, now()) : null
  if (order.act === 'remove' && !order.isDryRun) {
    dropSetAside(kept.path)
    // The connection remembers words of before, and its settings are for removing only.
    kept.close()
  }
  const { db } = kept
  if (order.act === 'accept') acceptLost(db)
  if (order.act === 'compact' && compact(db)) noteStage(db, 'bytes')
  return { plan, isDone: isDone(db, 'bytes') }
}
