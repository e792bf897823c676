import { beginPurge } from '../../mirror/purge/begin-purge.ts'
import { findTargets } from '../../mirror/purge/find-targets.ts'
import { findHeld } from '../../mirror/purge/held-pieces.ts'
import { Pieces } from '../../mirror/purge/pieces.ts'
import { isOfText } from '../../mirror/purge/scope.ts'
import { endCompaction, endRemoval } from '../../mirror/purge/run-purge.ts'
import { noteStage, readUnfinished } from '../../mirror/purge/state.ts'
import { vanishedTerms } from '../../mirror/purge/vanished-terms.ts'
import { listSome } from '../../mirror/fulltext/unlisted.ts'
import type { MirrorMaintenance } from '../writer/maintenance.ts'
import type { MirrorPurgeOrder, MirrorPurgeOutcome } from './purge-orders.ts'
import { tellPlan } from './plan-purge.ts'

const nothing = { plan: null, pieces: [], terms: [], left: 'nothing', setAside: [] } as const

type Done = Omit<MirrorPurgeOutcome, 'unfinished'>

/** One act of a purge upon the mirror, in steps that can be ended in between: what was begun is ended later. */
export function* purgeMirror(
  kept: MirrorMaintenance,
  order: MirrorPurgeOrder,
  now: () => number,
): Generator<void, MirrorPurgeOutcome> {
  const done = yield* obey(kept, order, now)
  return { ...done, unfinished: readUnfinished(kept.db) }
}

function* obey(kept: MirrorMaintenance, order: MirrorPurgeOrder, now: () => number): Generator<void, Done> {
  switch (order.act) {
    case 'plan': {
      const targets = yield* findTargets(kept.db, order.scope, new Set(order.goingOn))
      return { ...nothing, plan: tellPlan(kept.db, order.scope, targets, kept.setAside) }
    }
    case 'remove': {
      // What is purged is told from what is left by the list of terms.
      while (listSome(kept.db) > 0) yield
      const targets = yield* findTargets(kept.db, order.scope, new Set(order.archived.goingOn))
      beginPurge(kept.db, order.scope, targets, order.archived, now())
      return yield* remove(kept, isOfText(order.scope) ? order.scope.match : null, now)
    }
    case 'resume': {
      const { rows, archives } = readUnfinished(kept.db)
      return rows || archives ? yield* remove(kept, null, now) : nothing
    }
    case 'archived':
      noteStage(kept.db, 'archives', now())
      return nothing
    case 'compact':
      return { ...nothing, left: compactNow(kept, now()) }
    default:
      return { ...nothing, pieces: yield* findHeld(kept.db, order.pieces) }
  }
}

function* remove(kept: MirrorMaintenance, match: string | null, now: () => number): Generator<void, Done> {
  const pieces = match === null ? new Pieces() : null
  yield* endRemoval(kept.db, { nowMs: now(), pieces })
  const setAside = kept.dropSetAside()
  const terms = match === null ? [] : vanishedTerms(kept.db, match)
  // What it remembers of words and statements is of before, and how it writes is for removing alone.
  kept.close()
  return { ...nothing, pieces: pieces?.all ?? [], terms, setAside }
}

function compactNow(kept: MirrorMaintenance, nowMs: number): MirrorPurgeOutcome['left'] {
  try {
    return endCompaction(kept.db, nowMs) ? 'nothing' : 'reader'
  } catch (error) {
    // A full disk may also show in a file that cannot be made.
    const isOfDisk =
      error instanceof Error && 'code' in error && /^SQLITE_(FULL|IOERR|CANTOPEN)/.test(String(error.code))
    if (!isOfDisk) throw error
    return 'disk-full'
  }
}
