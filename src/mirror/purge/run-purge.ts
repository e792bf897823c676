import type { Mirror } from '../open.ts'
import { compact } from './compact.ts'
import { forgetWords } from './forget-words.ts'
import type { Pieces } from './pieces.ts'
import { removeTargets } from './remove-targets.ts'
import { noteStage, readUnfinished } from './state.ts'

interface Ending {
  readonly nowMs: number
  readonly pieces: Pieces | null
}

/**
 * Removes from the mirror whatever was noted by purges that were begun, whenever that was: its rows, and the words that
 * nothing holds any more. What is left of it then is bytes in unused places of the file: see `compact`.
 */
export function* endRemoval(db: Mirror, { nowMs, pieces }: Ending): Generator<void, void> {
  if (!readUnfinished(db).rows) return
  yield* removeTargets({ db, nowMs, pieces })
  yield* forgetWords(db)
  noteStage(db, 'rows', nowMs)
}

/** @returns what `compact` does; true where there was nothing to do @throws SqliteError SQLITE_FULL */
export function endCompaction(db: Mirror, nowMs: number): boolean {
  if (!readUnfinished(db).bytes) return true
  if (!compact(db)) return false
  noteStage(db, 'bytes', nowMs)
  return true
}
