import { dropSetAside, listSetAside } from '../../mirror/damage/replace-mirror.ts'
import { findTargets, planPurge, type MirrorPlan } from '../../mirror/purge/find-targets.ts'
import { barTargets, honourBars } from '../../mirror/purge/honour-bars.ts'
import type { PurgeScope } from '../../mirror/purge/scope.ts'
import { acceptLost, compact, noteStage, readUnfinished, type Unfinished } from '../../mirror/purge/stages.ts'
import { countBars } from '../../mirror/purge/user-file.ts'
import type { MirrorMaintenance } from '../writer/maintenance.ts'

/** What the mirror's only writer does for a purge. */
export type MirrorPurgeOrder =
  /** Opening the mirror finishes what an interrupted purge left in its rows. */
  | { readonly act: 'open' }
  | { readonly act: 'remove'; readonly scope: PurgeScope; readonly isDryRun: boolean }
  /** Notes that the archives are rewritten. */
  | { readonly act: 'archived' }
  | { readonly act: 'compact' }
  /** Goes on without the bars that are missing. */
  | { readonly act: 'accept' }

/** What is removed from the mirror. */
export interface Removed extends MirrorPlan {
  /** Names of damaged mirrors that were set aside. */
  readonly setAside: readonly string[]
}

export interface MirrorPurgeOutcome {
  /** Null after other acts. */
  readonly removed: Removed | null
  /** Why the mirror's file could not be rewritten: the disk is full, or a reader uses it. */
  readonly left: 'nothing' | 'disk-full' | 'reader'
  readonly unfinished: Unfinished
}

/** One act of a purge on the mirror. It can be stopped after each step; what was begun is finished later. */
export function* purgeMirror(
  kept: MirrorMaintenance,
  order: MirrorPurgeOrder,
  now: () => number,
): Generator<void, MirrorPurgeOutcome> {
  const removed = order.act === 'remove' ? yield* remove(kept, order, now()) : null
  const { db } = kept
  if (order.act === 'archived') noteStage(db, 'archives')
  if (order.act === 'accept') acceptLost(db)
  const left = order.act === 'compact' ? tryToCompact(kept) : 'nothing'
  return { removed, left, unfinished: readUnfinished(db, countBars(db)) }
}

function* remove(
  kept: MirrorMaintenance,
  { scope, isDryRun }: Extract<MirrorPurgeOrder, { act: 'remove' }>,
  nowMs: number,
): Generator<void, Removed> {
  const { db } = kept
  const targets = findTargets(db, scope)
  const plan = planPurge(db, scope, targets)
  if (isDryRun) return { ...plan, setAside: listSetAside(kept.path) }
  yield* honourBars(db, nowMs, barTargets(db, scope, targets))
  const setAside = dropSetAside(kept.path)
  // The connection remembers words of before, and its settings are for removing only.
  kept.close()
  return { ...plan, setAside }
}

function tryToCompact({ db }: MirrorMaintenance): MirrorPurgeOutcome['left'] {
  try {
    return compact(db) ? 'nothing' : 'reader'
  } catch (error) {
    // On a full disk SQLite may also fail to create a file.
    const isDisk = error instanceof Error && 'code' in error && /^SQLITE_(FULL|IOERR|CANTOPEN)/.test(String(error.code))
    if (!isDisk) throw error
    return 'disk-full'
  }
}
