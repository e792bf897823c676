import Database from '../../../sqlite.ts'
import type { OpenFile } from '../../open-safely/cursor-file.ts'

/** A store whose table is not there yet, or was dropped, holds no rows: the same algorithm runs over nothing. */
export function emptyStore(file: OpenFile): OpenFile {
  return {
    ...file,
    read: (use) => {
      const db = new Database(':memory:')
      try {
        db.exec('create table cursorDiskKV (key text unique on conflict replace, value blob)')
        return use(db)
      } finally {
        db.close()
      }
    },
  }
}
