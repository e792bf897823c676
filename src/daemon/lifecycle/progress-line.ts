import { realSurroundings, type Surroundings } from '../../settings.ts'
import { lineWipe } from '../../text/printable.ts'
import type { Progress } from '../../api/answers/status.ts'

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
