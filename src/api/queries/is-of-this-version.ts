import { migrations } from '../../mirror/migrations/index.ts'
import type { Mirror } from '../../mirror/open.ts'

/** Whether the mirror has the schema that the other questions are put to: an older one waits for its next writer. */
export const isOfThisVersion = (db: Mirror): boolean =>
  Number(db.pragma('user_version', { simple: true })) === migrations.length
