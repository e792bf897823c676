import { Temporal } from 'temporal-polyfill'

/**
 * What a zone's clocks show between two moments. Temporal is asked once for each change of the clocks and not for each
 * message: half a million messages would take it seconds.
 */
export class ZoneOffsets {
  /** Epoch milliseconds from which each offset counts, ascending; the first counts before, too. */
  readonly #startsMs: number[] = []
  readonly #offsetsMs: number[] = []
  /** Where the last moment was found: the next one mostly lies near. */
  #at = 0

  /**
   * @param firstMs epoch milliseconds, the first moment that will be asked for
   * @param lastMs the last one
   * @throws RangeError for an unknown zone
   */
  constructor(timeZone: string, firstMs: number, lastMs: number) {
    let moment: Temporal.ZonedDateTime | null =
      Temporal.Instant.fromEpochMilliseconds(firstMs).toZonedDateTimeISO(timeZone)
    while (moment !== null && moment.epochMilliseconds <= lastMs) {
      this.#startsMs.push(moment.epochMilliseconds)
      this.#offsetsMs.push(moment.offsetNanoseconds / 1e6)
      moment = moment.getTimeZoneTransition('next')
    }
  }

  /** What a clock in the zone shows, as the epoch milliseconds at which a clock in UTC shows the same. */
  toLocalMs(ms: number): number {
    while (ms < (this.#startsMs[this.#at] ?? -Infinity) && this.#at > 0) this.#at -= 1
    while (ms >= (this.#startsMs[this.#at + 1] ?? Infinity)) this.#at += 1
    return ms + (this.#offsetsMs[this.#at] ?? 0)
  }

  /** The stretches between two changes of the clocks: the local time at the first and at the last millisecond of each. */
  localStretches(firstMs: number, lastMs: number): { readonly firstMs: number; readonly lastMs: number }[] {
    return this.#startsMs.flatMap((startMs, index) => {
      const offsetMs = this.#offsetsMs[index] ?? 0
      const from = Math.max(startMs, firstMs)
      const to = Math.min((this.#startsMs[index + 1] ?? Infinity) - 1, lastMs)
      return from > to ? [] : [{ firstMs: from + offsetMs, lastMs: to + offsetMs }]
    })
  }
}
