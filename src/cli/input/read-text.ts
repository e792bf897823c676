import { UserError } from '../../model/user-error.ts'
import { readRegular } from '../../regular-file.ts'

/**
 * The text of a file that a person named, with its BOM.
 * @param bytesMax a larger file is refused
 * @param hint what the person can do if it cannot be read
 * @throws UserError `unreadable`, also for other bytes than UTF-8; RefusedFile
 */
export function readText(path: string, bytesMax: number, hint: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readRegular(path, bytesMax))
  } catch (cause) {
    if (cause instanceof UserError) throw cause
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
    const what = code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'is not UTF-8' : `cannot be read (${code})`
    throw new UserError('unreadable', `${path} ${what}.`, hint, { cause })
  }
}
