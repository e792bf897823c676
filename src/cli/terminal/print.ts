import { UserError } from '../../model/user-error.ts'
import type { Output } from './screen.ts'
import { lineWipe } from '../../text/printable.ts'
import type { Environment } from '../../settings.ts'

/** The reader of our output has closed the pipe, as `head` does. */
export class PipeClosed extends Error {
  override readonly name = 'PipeClosed'
}

/** Writes to a stream, and waits until the text has left this process. @throws PipeClosed if the reader is gone */
export function printTo(output: Output): (text: string) => Promise<void> {
  // Each write reports its errors to its callback. An error event without a listener would end the process.
  output.on('error', () => {})
  return (text) =>
    new Promise((resolve, reject) => {
      output.write(text, (error) => {
        if (error === null || error === undefined) resolve()
        else reject(asError(error))
      })
    })
}

function asError(error: NodeJS.ErrnoException): Error {
  const code = error.code ?? error.message
  if (code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED') return new PipeClosed('The pipe is closed.')
  return new UserError(
    'output',
    `The output could not be written (${code}).`,
    'Check the file or device that it is written to.',
    {
      cause: error,
    },
  )
}

/** A line on the terminal that is overwritten, such as a progress line. */
export interface StatusLine {
  /** Whether the output is a terminal that can overwrite a line. If not, nothing is shown. */
  readonly isSeen: boolean
  /** An empty text clears the line. */
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
