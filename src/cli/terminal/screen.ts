import type { Writable } from 'node:stream'
import pc from 'picocolors'
import { UserError } from '../../model/user-error.ts'
import type { Environment } from '../../settings.ts'
import { wantsColours } from '../../text/printable.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'

export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number }

/** What stdout can show. */
export interface Screen {
  /** Columns of the terminal. Null if stdout is not a terminal. */
  readonly width: number | null
  /** Lines of the terminal; no limit elsewhere. */
  readonly height: number
  readonly colours: ReturnType<typeof pc.createColors>
  /** IANA name of the zone for shown times. */
  readonly timeZone: string
  /** Epoch milliseconds, for ages such as "3 days ago". */
  readonly nowMs: number
}

export function screenOf(output: Output, env: Environment, timeZone: () => string, nowMs: number): Screen {
  const isTerminal = output.isTTY === true
  return {
    width: isTerminal ? Math.max(40, output.columns ?? 80) : null,
    height: (isTerminal ? output.rows : undefined) ?? Infinity,
    colours: pc.createColors(wantsColours(isTerminal, env)),
    get timeZone() {
      return timeZone()
    },
    nowMs,
  }
}

let cachedZone: string | undefined

/** The time zone of the machine. The first call takes about 15 ms, so it is made only if needed. */
export const localTimeZone = (): string => (cachedZone ??= zoneOfMachine())

function zoneOfMachine(): string {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  try {
    return Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone || 'UTC'
  } catch {
    // If TZ is a POSIX name such as UTC+3, Node reports a name that it does not accept itself.
    return 'UTC'
  }
}

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
      output.write(text, (error) => (error ? reject(asError(error)) : resolve()))
    })
}

function asError(cause: NodeJS.ErrnoException): Error {
  const code = cause.code ?? cause.message
  if (code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED') return new PipeClosed('The pipe is closed.')
  const hint = 'Check the file or device that it is written to.'
  return new UserError('output', `The output could not be written (${code}).`, hint, { cause })
}

/** Ctrl-C goes to every program in the terminal. The pager decides what it means, and must not lose its parent. */
const ignoreInterrupt = (): void => {}

export type Pager = NonNullable<Awaited<ReturnType<typeof openPager>>>

/**
 * Starts `$PAGER`, or `less` if there is one. Null if neither can be started, or if `PAGER` is empty or `cat`. Printing to
 * it throws `PipeClosed` if the user has left it.
 */
export async function openPager(env: Environment) {
  const [command, ...args] = (env['PAGER'] ?? 'less -R').trim().split(/\s+/)
  if (command === undefined || command === '' || command === 'cat') return null
  // As git does: a text that fits the screen needs no key to leave, and colours stay colours.
  const child = spawn(command, args, {
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { ...env, LESS: env['LESS'] ?? 'FRX' },
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  try {
    await once(child, 'spawn')
  } catch {
    return null
  }
  process.on('SIGINT', ignoreInterrupt)
  /** Waits until the user leaves the pager. */
  const close = async (): Promise<void> => {
    child.stdin.end()
    await ended
    process.removeListener('SIGINT', ignoreInterrupt)
  }
  return { print: printTo(child.stdin), close }
}
