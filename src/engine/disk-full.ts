import { UserError } from '../model/user-error.ts'

/** Codes by which SQLite and the system say that a disk, or one's share of it, is full, and our own. */
export const isOfFullDisk = (code: string): boolean =>
  /^(SQLITE_FULL|SQLITE_IOERR_SHMSIZE|ENOSPC|EDQUOT|disk-full)$/.test(code)

/** @param place the file or folder that is to be written */
export const diskFull = (place: string, cause?: unknown): UserError =>
  new UserError('disk-full', `The disk that holds ${place} is full.`, 'Make room and try again.', { cause })
