import type { Mirror } from '../../mirror/open.ts'

/** Runs several reads on one state of the mirror: a list and its total must not straddle a commit of the writer. */
export function inSnapshot<Answer>(db: Mirror, read: () => Answer): Answer {
  return db.transaction(read)()
}
