import Database from '../../../../sqlite.ts'
import type { OpenFile } from '../../../open-safely/cursor-file.ts'

/** A store whose table does not exist yet, or was dropped, is treated as an empty table. */
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
