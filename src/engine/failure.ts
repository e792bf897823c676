import { codeOf, indexDamaged, isDamage, isOfIndex, mirrorDamaged } from '../mirror/damage/find-damage.ts'
import { UserError } from '../model/user-error.ts'

/** An error as it crosses to another thread or process. */
export interface Failure extends Pick<UserError, 'code' | 'message' | 'hint' | 'status'> {
  /** False for an error of SQLite or of the system, and for a bug: it needs words around it. */
  readonly isForUser: boolean
}

export function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error)
  const damage = isOfIndex(error) ? indexDamaged(error) : isDamage(error) ? mirrorDamaged(message) : null
  const known = error instanceof UserError ? error : damage
  if (known === null) return { message, code: codeOf(error) || 'fault', hint: '', status: 503, isForUser: false }
  return { message: known.message, code: known.code, hint: known.hint, status: known.status, isForUser: true }
}
