import type { Logger } from '../lifecycle/log.ts'
import { isDamage } from '../../mirror/damage/find-damage.ts'
import { UserError } from '../../model/user-error.ts'
import { isOfFullDisk } from '../../engine/writer/writer.ts'

/** Why indexing stopped, as an error for a person. */
export function explainError(error: unknown, mirrorPath: string): UserError {
  const message = error instanceof Error ? error.message : String(error)
  const code = error instanceof UserError ? error.code : 'fault'
  if (isOfFullDisk(code)) {
    return new UserError(
      'disk-full',
      `The disk that holds ${mirrorPath} is full, so indexing waits.`,
      'Make room. Indexing then continues by itself.',
    )
  }
  if (error instanceof UserError && (code === 'stopped' || isDamage(error))) return error
  const hint = error instanceof UserError ? `${error.hint} ` : ''
  return new UserError(
    code,
    `Indexing failed: ${message.replace(/\.$/, '')}.`,
    `${hint}It will be tried again in half a minute.`,
  )
}

export const logError = (log: Pick<Logger, 'error'>, { code, message, hint }: UserError): void =>
  log.error({ code }, `${message} ${hint}`)
