import type { HeldRow } from '../../../../mirror/sources/source-state.ts'

/** Decides which missing rows are gone. It gets all rows that one look at the store misses. */
export type Verdict = (missing: readonly HeldRow[]) => (row: HeldRow) => boolean

export const allGone: Verdict = () => () => true

/**
 * Only rows that a comparison of all keys found gone. What vanished since then is left to the next comparison: it may
 * be very much, and only a full count tells.
 */
export const goneByKeys =
  (gone: ReadonlySet<string>): Verdict =>
  () =>
  ({ key }) =>
    gone.has(key)

/**
 * Before all keys were compared: a few rows are gone if there is only one look at the store. If there are more, the
 * total loss is unknown.
 * @param onDoubt called if a comparison of all keys is needed
 */
export const goneIfFew =
  (isOnlyLook: boolean, rowsMax: number, onDoubt: () => void): Verdict =>
  (missing) => {
    const fresh = missing.filter(({ missedAtMs }) => missedAtMs === null).length
    if (fresh > 0 && (!isOnlyLook || fresh > rowsMax)) {
      onDoubt()
      return () => false
    }
    return ({ missedAtMs }) => missedAtMs === null
  }
