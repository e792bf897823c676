import { lineWipe } from '../../text/printable.ts'
import type { Environment } from '../../settings.ts'
import type { Output } from './screen.ts'

/** A line that is written over, such as how far something is. */
export interface StatusLine {
  /** Whether the output is a terminal that can write over a line; elsewhere nothing is shown. */
  readonly isSeen: boolean
  /** An empty text leaves nothing there. */
  readonly show: (text: string) => Promise<void>
}

/** @param write to that output */
export function statusLine(output: Output, env: Environment, write: (text: string) => Promise<void>): StatusLine {
  const wipe = lineWipe(output.isTTY === true, env)
  let shown = ''
  return {
    isSeen: wipe !== '',
    show: async (text) => {
      if (wipe === '' || text === shown) return
      shown = text
      await write(`${wipe}${text}`)
    },
  }
}
