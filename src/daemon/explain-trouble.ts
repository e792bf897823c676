import type { Logger } from './log.ts'
import type { Damage } from '../mirror/upkeep/check-pages.ts'
import { damageToldBy } from '../mirror/upkeep/damage-told.ts'
import { Trouble } from '../model/trouble.ts'
import { isOfFullDisk } from './disk-full.ts'

/** What of the mirror is damaged, by what was told of a failure. */
export const damageIn = ({ code }: Trouble): Damage => damageToldBy(code)

/** What kept indexing from going on, in words for a person. */
export function explainTrouble(error: unknown, mirrorPath: string): Trouble {
  const message = error instanceof Error ? error.message : String(error)
  const code = error instanceof Trouble ? error.code : 'fault'
  if (isOfFullDisk(code)) {
    return new Trouble(
      'disk-full',
      `The disk that holds ${mirrorPath} is full; indexing waits.`,
      'Make room; it goes on by itself.',
    )
  }
  if (error instanceof Trouble && (code === 'stopped' || damageIn(error) !== 'none')) return error
  const hint = error instanceof Trouble ? `${error.hint} ` : ''
  return new Trouble(
    code,
    `Indexing failed: ${message.replace(/\.$/, '')}.`,
    `${hint}It is tried again in half a minute.`,
  )
}

export const logTrouble = (log: Pick<Logger, 'error'>, { code, message, hint }: Trouble): void =>
  log.error({ code }, `${message} ${hint}`)
