import type { Screen } from '../terminal/screen.ts'

interface Dated {
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly tz?: string | undefined
}

/** Whether anything is asked that a zone decides. It takes some 15 ms to know one's own. */
export const namesDates = ({ from, to }: Dated): boolean => from !== undefined || to !== undefined

/** Fields of the search language that take a date. */
export const holdsDateField = (words: string): boolean => /(?:before|after|on):/i.test(words)

/**
 * Dates are meant by the clock that who types them looks at, and that the times which are printed go by: a daemon may have
 * been started in another zone.
 */
export const inOwnZone = <Values extends Dated>(
  values: Values,
  screen: Screen,
  isDated: boolean = namesDates(values),
): Values => (isDated && values.tz === undefined ? { ...values, tz: screen.timeZone } : values)
