import type { Mirror } from '../open.ts'
import { checkPart, listParts, type Damage, type MirrorPart } from './check-pages.ts'
import { lastDone, noteDone } from './upkeep-times.ts'

/** How old the last check of a part may be. */
const CHECK_MS = 24 * 3_600_000

export interface PartsCheck {
  /** Sound parts, for `noteChecked`. */
  readonly sound: readonly MirrorPart[]
  readonly damage: Damage
  /** True if there are more parts to check. */
  readonly hasMore: boolean
}

/**
 * Checks the parts that were not checked for a day, those first that were checked longest ago. It stops after the part that
 * ends after `forMs`, or that is damaged. So a check continues where an earlier one ended, also after a restart.
 */
export function checkSomeParts(db: Mirror, forMs: number, now: () => number): PartsCheck {
  const startedAtMs = now()
  const sound: MirrorPart[] = []
  const due = listDue(db, startedAtMs)
  if (due === null) return { sound, damage: 'rows', hasMore: false }
  for (const part of due) {
    if (sound.length > 0 && now() - startedAtMs >= forMs) return { sound, damage: 'none', hasMore: true }
    const damage = checkPart(db, part)
    if (damage !== 'none') return { sound, damage, hasMore: false }
    sound.push(part)
  }
  return { sound, damage: 'none', hasMore: false }
}

function listDue(db: Mirror, nowMs: number): MirrorPart[] | null {
  const parts = listParts(db)?.map((part) => ({ part, atMs: lastDone(db, taskOf(part)) ?? 0 }))
  // A time in the future was noted before the clock was set back.
  const due = parts?.filter(({ atMs }) => atMs > nowMs || nowMs - atMs >= CHECK_MS)
  return due?.sort((one, other) => one.atMs - other.atMs).map(({ part }) => part) ?? null
}

/** @returns how many parts were noted */
export function noteChecked(db: Mirror, parts: readonly MirrorPart[], nowMs: number): number {
  db.transaction(() => {
    for (const part of parts) noteDone(db, taskOf(part), nowMs)
  })()
  return parts.length
}

const taskOf = (part: MirrorPart): `check ${MirrorPart}` => `check ${part}`
