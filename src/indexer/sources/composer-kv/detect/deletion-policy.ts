import type { HeldRow } from '../../../../mirror/sources/source-state.ts'

/** Which of the rows that are missing are gone; asked once for all that one look at the store misses. */
export type Verdict = (missing: readonly HeldRow[]) => (row: HeldRow) => boolean

export const allGone: Verdict = () => () => true

/**
 * What a comparison of all keys found gone. What vanished since is left to the next one: it may be very much, and only a
 * count of all tells.
 */
export const goneByKeys =
  (gone: ReadonlySet<string>): Verdict =>
  () =>
  ({ key }) =>
    gone.has(key)

/**
 * Before all keys were compared: a few rows of the only look there is are gone. Of more it is not known how much is
 * missing in all.
 * @param onDoubt called where it takes a comparison of all keys to know
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
