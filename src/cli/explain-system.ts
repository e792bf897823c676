import { UserError } from '../model/user-error.ts'

const OPEN_FILES: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE'])
const OPEN_FILES_HINT = 'Allow more open files, for example with: ulimit -n 256'

/**
 * An error of the system or of SQLite that no other place explains, as a sentence. Null for any other error, which is a bug.
 * @param dataDir the data folder; null if it is not known yet
 */
export function explainSystem(error: unknown, dataDir: string | null): UserError | null {
  if (!(error instanceof Error && 'code' in error)) return null
  const code = String(error.code)
  const hint = OPEN_FILES.has(code) ? OPEN_FILES_HINT : 'Check this file, its folder, its permissions and its disk.'
  if ('syscall' in error && /^E[A-Z0-9]+$/.test(code)) {
    const what = 'path' in error ? String(error.path) : (dataDir ?? 'A file')
    return new UserError('system', `${what} cannot be used (${code} by ${String(error.syscall)}).`, hint, {
      cause: error,
    })
  }
  if (!/^SQLITE_(CANTOPEN|IOERR|NOTADB|READONLY|PERM|FULL|NOMEM)/.test(code)) return null
  const text = `A database of the data folder ${dataDir ?? ''} cannot be used: ${error.message} (${code}).`
  return new UserError('system', text, `Check its files, their permissions and their disk. ${OPEN_FILES_HINT}`, {
    cause: error,
  })
}
