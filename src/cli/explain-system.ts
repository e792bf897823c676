import { UserError } from '../model/user-error.ts'

const OF_DATABASE = /^SQLITE_(CANTOPEN|IOERR|NOTADB|READONLY|PERM|FULL|NOMEM)/
const HINT = 'Check its folder, its permissions, its disk, and how many files you may open (ulimit -n).'

/**
 * An error of the file system or of SQLite that no other place explains, as a sentence. Null for any other error: a bug.
 * @param dataDir the data folder; null if it is not known yet
 */
export function explainSystem(error: unknown, dataDir: string | null): UserError | null {
  if (!(error instanceof Error && 'code' in error)) return null
  const code = String(error.code)
  const path = 'syscall' in error && 'path' in error ? String(error.path) : null
  if (path === null && !OF_DATABASE.test(code)) return null
  const what = path ?? `A database in ${dataDir ?? 'the data folder'}`
  const why = path === null ? `${error.message}, ${code}` : code
  return new UserError('system', `${what} cannot be used (${why}).`, HINT, { cause: error })
}
