import type { Writable } from 'node:stream'
import pc from 'picocolors'
import type { Environment } from '../../settings.ts'
import { wantsColours } from '../../text/printable.ts'

export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number }

export type Colours = ReturnType<typeof pc.createColors>

/** What stdout can show. */
export interface Screen {
  /** Columns of the terminal. Null if stdout is not a terminal. */
  readonly width: number | null
  readonly colours: Colours
  /** IANA name of the zone for shown times. */
  readonly timeZone: string
  /** Epoch milliseconds, for ages such as "3 days ago". */
  readonly nowMs: number
}

export function screenOf(output: Output, env: Environment, timeZone: () => string, nowMs: number): Screen {
  const isTerminal = output.isTTY === true
  return {
    width: isTerminal ? Math.max(40, output.columns ?? 80) : null,
    colours: pc.createColors(wantsColours(isTerminal, env)),
    get timeZone() {
      return timeZone()
    },
    nowMs,
  }
}

let cachedZone: string | undefined

/** The time zone of the machine. The first call takes about 15 ms, so it is made only if needed. */
export function localTimeZone(): string {
  cachedZone ??= usableZone(Intl.DateTimeFormat().resolvedOptions().timeZone, -new Date().getTimezoneOffset())
  return cachedZone
}

/**
 * A time zone that `Intl` accepts. If TZ is empty or a POSIX name (`UTC+3`, `UTC0`), Node uses an offset, and reports no
 * name or a name that it does not accept itself. Then the result is the zone with that offset, or UTC if there is none.
 */
export function usableZone(name: string | undefined, minutesEast: number): string {
  const hours = Math.abs(minutesEast) / 60
  // These names have the signs of POSIX: zones east of Greenwich are negative.
  const ofOffset = hours === 0 ? 'UTC' : `Etc/GMT${minutesEast > 0 ? '-' : '+'}${hours}`
  return [name, ofOffset].find((zone) => zone !== undefined && isZone(zone)) ?? 'UTC'
}

function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}
