import { Writable } from 'node:stream'
import { pino, type Logger } from 'pino'
import pc from 'picocolors'
import { realSurroundings, type Surroundings } from '../../settings.ts'
import { printable, lineWipe, wantsColours } from '../../text/printable.ts'
import type { Progress } from '../../api/answers/status.ts'

export type { Logger }

/** The type of `process.stderr`, with its file descriptor. */
export type LogOutput = NodeJS.WriteStream & { readonly fd: number }

/** Logs to stderr: readable lines on a terminal, JSON lines otherwise. No line may contain text from a chat. */
export function createLog(level: string, stderr: LogOutput): Logger {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime }
  if (!stderr.isTTY) return pino(options, pino.destination({ fd: stderr.fd, sync: true }))
  const { env } = realSurroundings()
  const wipe = lineWipe(true, env)
  const colours = pc.createColors(wantsColours(true, env))
  const pretty = new Writable({
    write(chunk: Buffer, _encoding, done) {
      // Removes the progress line, which is drawn again below.
      stderr.write(`${wipe}${prettyLine(chunk.toString(), colours)}`, done)
    },
  })
  return pino(options, pretty)
}

type Colours = ReturnType<typeof pc.createColors>

function prettyLine(json: string, colours: Colours): string {
  const { level, time, msg, ...rest } = JSON.parse(json) as Record<string, unknown>
  // A person sees local time. JSON lines for programs have UTC.
  const clock = colours.dim(new Date(String(time)).toTimeString().slice(0, 8))
  const details = Object.entries(rest).map(([key, value]) => colours.dim(printable(` ${key}=${shown(value)}`)))
  return `${clock} ${levelMark(Number(level), colours)}${printable(String(msg))}${details.join('')}\n`
}

// Levels of pino: 40 is a warning, 50 an error, 60 fatal.
function levelMark(level: number, { red, yellow }: Colours): string {
  if (level < 40) return ''
  return level < 50 ? yellow('warning ') : red(level < 60 ? 'error ' : 'fatal ')
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** The stack of an error. V8 quotes text that is not valid JSON, and in a damaged mirror that text is from a chat. */
export function stackWithoutText(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  return (error.stack ?? error.message).replace(
    /(?:Unexpected token )?['"][^]* is not valid JSON/,
    'It is not valid JSON',
  )
}

const BAR_WIDTH = 24
const USUAL_COLUMNS = 80

/**
 * Shows the progress of indexing on a terminal, in one line that is overwritten.
 * @returns isSeen: false if the output is no terminal that can overwrite a line. Then nothing is printed
 */
export function progressLine(out: NodeJS.WriteStream, { env }: Pick<Surroundings, 'env'> = realSurroundings()) {
  const wipe = lineWipe(out.isTTY, env)
  let isShown = false
  const show = (progress: Progress | null): void => {
    if (wipe === '' || (progress === null && !isShown)) return
    isShown = progress !== null
    // Some pseudo terminals report a width of 0.
    out.write(progress === null ? wipe : `${wipe}${progressText(progress, out.columns || USUAL_COLUMNS)}`)
  }
  return { isSeen: wipe !== '', show }
}

/**
 * `Reading  ████████                 33%  1,234 of 3,700 rows, 2 s left`, shortened to one line, because only one line is
 * overwritten.
 */
export function progressText({ stage, done, total, etaMs }: Progress, columns: number): string {
  const share = total === 0 ? 0 : Math.min(1, done / total)
  const filled = Math.round(share * BAR_WIDTH)
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled)
  const left = etaMs === null ? '' : `, ${Math.ceil(etaMs / 1000)} s left`
  const [verb, unit] = stage === 'reading' ? ['Reading ', 'rows'] : ['Indexing', 'messages']
  const percent = `${Math.floor(share * 100)}%`
  const text = `${count(done)} of ${count(total)} ${unit}`
  const whole = `${verb} ${bar} ${percent}  ${text}${left}`
  // Some terminals start a new line after a character in the last column.
  return whole.length < columns ? whole : `${verb.trim()} ${percent}, ${text}${left}`.slice(0, Math.max(0, columns - 1))
}

const count = (value: number): string => value.toLocaleString('en')
