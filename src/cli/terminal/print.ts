import { UserError } from '../../model/user-error.ts'
import type { Output } from './screen.ts'
import { lineWipe } from '../../text/terminal.ts'
import type { Environment } from '../../settings.ts'

/** The reader of our output went away, as `head` does when it has seen enough. */
export class PipeClosed extends Error {
  override readonly name = 'PipeClosed'
}

/** Writes to a stream; done when the text has left this process. @throws PipeClosed when nobody reads any more */
export function printTo(output: Output): (text: string) => Promise<void> {
  // The callback of each write tells of the same errors; an error event that nobody hears would end the process.
  output.on('error', () => {})
  return (text) =>
    new Promise((resolve, reject) => {
      output.write(text, (error) => {
        if (error === null || error === undefined) resolve()
        else reject(troubleOf(error))
      })
    })
}

function troubleOf(error: NodeJS.ErrnoException): Error {
  const code = error.code ?? error.message
  if (code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED') return new PipeClosed('The pipe is closed.')
  return new UserError('output', `The output could not be written (${code}).`, 'Look at where it goes to.', {
    cause: error,
  })
}

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
