import type { Writable } from 'node:stream'
import pc from 'picocolors'
import type { Environment } from '../../settings.ts'
import { wantsColours } from '../../text/terminal.ts'

export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number }

export type Colours = ReturnType<typeof pc.createColors>

/** What stdout can show. */
export interface Screen {
  /** Columns of the terminal; null where stdout is none. */
  readonly width: number | null
  readonly colours: Colours
  /** Whether it can draw blocks and lines, which terminals that speak no UTF-8 cannot. */
  readonly hasBlocks: boolean
  /** IANA name of the zone that times are shown in. */
  readonly timeZone: string
}

export function screenOf(output: Output, env: Environment, timeZone: () => string): Screen {
  const isTerminal = output.isTTY === true
  return {
    width: isTerminal ? Math.max(40, output.columns ?? 80) : null,
    colours: pc.createColors(wantsColours(isTerminal, env)),
    hasBlocks: isTerminal && drawsBlocks(env),
    get timeZone() {
      return timeZone()
    },
  }
}

// POSIX: the first of these that is set and not empty says which letters there are. None set is a C locale, except on
// systems that do not use them.
function drawsBlocks(env: Environment): boolean {
  if (env['TERM'] === 'dumb' || env['TERM'] === 'linux') return false
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG']
  if (!locale) return env['OS'] === 'Windows_NT' || env['TERM_PROGRAM'] !== undefined
  return /utf-?8/i.test(locale)
}

let known: string | undefined

/** The zone of the machine. Some 15 ms when it is first asked: not before it is needed. */
export function localTimeZone(): string {
  known ??= usableZone(Intl.DateTimeFormat().resolvedOptions().timeZone, -new Date().getTimezoneOffset())
  return known
}

/**
 * A zone that dates can be read in. Where TZ is empty or names a zone as POSIX does (`UTC+3`, `UTC0`), Node goes by an
 * offset, and tells no name for it, or one that it does not take itself: then it is the zone of that offset, where one
 * has it, else UTC.
 */
export function usableZone(name: string | undefined, minutesEast: number): string {
  const hours = Math.abs(minutesEast) / 60
  // The signs of these are those of POSIX: what lies east of Greenwich is less.
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
