import type { Logger } from '../lifecycle/log.ts'
import { damageToldBy, type Damage } from '../../mirror/maintenance/check-pages.ts'
import { UserError } from '../../model/user-error.ts'
import { isOfFullDisk } from '../../engine/disk-full.ts'

/** What of the mirror is damaged, by what was told of a failure. */
export const damageIn = ({ code }: UserError): Damage => damageToldBy(code)

/** What kept indexing from going on, in words for a person. */
export function explainError(error: unknown, mirrorPath: string): UserError {
  const message = error instanceof Error ? error.message : String(error)
  const code = error instanceof UserError ? error.code : 'fault'
  if (isOfFullDisk(code)) {
    return new UserError(
      'disk-full',
      `The disk that holds ${mirrorPath} is full; indexing waits.`,
      'Make room; it goes on by itself.',
    )
  }
  if (error instanceof UserError && (code === 'stopped' || damageIn(error) !== 'none')) return error
  const hint = error instanceof UserError ? `${error.hint} ` : ''
  return new UserError(
    code,
    `Indexing failed: ${message.replace(/\.$/, '')}.`,
    `${hint}It is tried again in half a minute.`,
  )
}

export const logError = (log: Pick<Logger, 'error'>, { code, message, hint }: UserError): void =>
  log.error({ code }, `${message} ${hint}`)
