import { UserError } from '../../model/user-error.ts'
import type { Damage } from './check-pages.ts'

/** The codes of failures that say that the mirror's own file, or only its full-text tables, are damaged. */
const MIRROR_DAMAGED = 'mirror-damaged'
const TERMS_DAMAGED = 'terms-damaged'

/** What a person is told of damage that was just met. @param message SQLite's word for it */
export const mirrorDamaged = (message: string, damage: Exclude<Damage, 'none'> = 'rows'): UserError =>
  new UserError(
    damage === 'terms' ? TERMS_DAMAGED : MIRROR_DAMAGED,
    `The mirror is damaged: ${message}.`,
    'The daemon mends it by itself: ask again in a moment.',
  )

/** What is damaged by the code of a failure that was told. */
export function damageToldBy(code: string): Damage {
  if (code === TERMS_DAMAGED) return 'terms'
  return code === MIRROR_DAMAGED ? 'rows' : 'none'
}
