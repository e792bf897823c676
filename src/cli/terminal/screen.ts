import type { Writable } from 'node:stream'
import pc from 'picocolors'
import type { Environment } from '../../settings.ts'
import { wantsColours } from '../../text/printable.ts'

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
