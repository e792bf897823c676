import { Writable } from 'node:stream'
import { pino, type Logger } from 'pino'
import pc from 'picocolors'

export type { Logger }

/** `process.stderr`, which has a descriptor too. */
export type LogOutput = NodeJS.WriteStream & { readonly fd: number }

/**
 * Logs go to stderr: lines for a person on a terminal, JSON lines otherwise. No line ever carries text from a chat.
 */
export function createLog(level: string, stderr: LogOutput): Logger {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime }
  if (!stderr.isTTY) return pino(options, pino.destination({ fd: stderr.fd, sync: true }))
  const pretty = new Writable({
    write(chunk: Buffer, _encoding, done) {
      // A progress line may stand there; it is drawn again below.
      stderr.write(`\r\u001b[K${prettyLine(chunk.toString())}`, done)
    },
  })
  return pino(options, pretty)
}

const levelMarks: ReadonlyMap<number, string> = new Map([
  [40, pc.yellow('warning ')],
  [50, pc.red('error ')],
  [60, pc.red('fatal ')],
])

function prettyLine(json: string): string {
  const { level, time, msg, ...rest } = JSON.parse(json) as Record<string, unknown>
  const clock = pc.dim(String(time).slice(11, 19))
  const details = Object.entries(rest).map(([key, value]) => pc.dim(` ${key}=${shown(value)}`))
  return `${clock} ${levelMarks.get(Number(level)) ?? ''}${String(msg)}${details.join('')}\n`
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
