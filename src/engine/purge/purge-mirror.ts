import { dropSetAside, listSetAside } from '../../mirror/damage/replace-mirror.ts'
import { beginPurge } from '../../mirror/purge/begin-purge.ts'
import { findTargets } from '../../mirror/purge/find-targets.ts'
import { planPurge } from '../../mirror/purge/plan-purge.ts'
import { endRemoval } from '../../mirror/purge/remove-targets.ts'
import { endCompaction, noteStage, readUnfinished } from '../../mirror/purge/state.ts'
import type { MirrorMaintenance } from '../writer/maintenance.ts'
import type { MirrorPurgeOrder, MirrorPurgeOutcome } from './purge-orders.ts'

type Done = Omit<MirrorPurgeOutcome, 'unfinished'>

const nothing: Done = { plan: null, left: 'nothing', setAside: [] }

/** One act of a purge on the mirror. It can be stopped after each step; what was begun is finished later. */
export function* purgeMirror(
  kept: MirrorMaintenance,
  order: MirrorPurgeOrder,
  now: () => number,
): Generator<void, MirrorPurgeOutcome> {
  const done = yield* act(kept, order, now)
  return { ...done, unfinished: readUnfinished(kept.db) }
}

function* act(kept: MirrorMaintenance, order: MirrorPurgeOrder, now: () => number): Generator<void, Done> {
  switch (order.act) {
    case 'plan': {
      const targets = yield* findTargets(kept.db, order.scope)
      return { ...nothing, plan: planPurge(kept.db, order.scope, targets, listSetAside(kept.path)) }
    }
    case 'remove': {
      const targets = yield* findTargets(kept.db, order.scope)
      beginPurge(kept.db, order.scope, targets, order.archived, now())
      return yield* remove(kept, now)
    }
    case 'resume': {
      const { rows, archives } = readUnfinished(kept.db)
      return rows || archives ? yield* remove(kept, now) : nothing
    }
    case 'archived':
      noteStage(kept.db, 'archives', now())
      return nothing
    default:
      return { ...nothing, left: compact(kept, now()) }
  }
}

function* remove(kept: MirrorMaintenance, now: () => number): Generator<void, Done> {
  yield* endRemoval(kept.db, now())
  const setAside = dropSetAside(kept.path)
  // The connection remembers words of before, and its settings are for removing only.
  kept.close()
  return { ...nothing, setAside }
}

function compact(kept: MirrorMaintenance, nowMs: number): MirrorPurgeOutcome['left'] {
  try {
    return endCompaction(kept.db, nowMs) ? 'nothing' : 'reader'
  } catch (error) {
    // On a full disk SQLite may also fail to create a file.
    const isDisk = error instanceof Error && 'code' in error && /^SQLITE_(FULL|IOERR|CANTOPEN)/.test(String(error.code))
    if (!isDisk) throw error
    return 'disk-full'
  }
}
