import { realSurroundings, type Surroundings } from '../../settings.ts'
import { lineWipe } from '../../text/printable.ts'
import type { Progress } from '../../api/answers/status.ts'

const BAR_WIDTH = 24
const USUAL_COLUMNS = 80

/** Shows the progress of indexing on a terminal, in one line that is overwritten. Prints nothing elsewhere. */
export class ProgressLine {
  readonly #out: NodeJS.WriteStream
  readonly #wipe: string
  #isShown = false

  constructor(out: NodeJS.WriteStream, { env }: Pick<Surroundings, 'env'> = realSurroundings()) {
    this.#out = out
    this.#wipe = lineWipe(out.isTTY, env)
  }

  /** True if the output is a terminal that can overwrite a line. */
  get isSeen(): boolean {
    return this.#wipe !== ''
  }

  show(progress: Progress | null): void {
    if (!this.isSeen) return
    if (progress === null) {
      this.clear()
      return
    }
    this.#isShown = true
    // Some pseudo terminals report a width of 0.
    this.#out.write(`${this.#wipe}${progressText(progress, this.#out.columns || USUAL_COLUMNS)}`)
  }

  clear(): void {
    if (this.#isShown) this.#out.write(this.#wipe)
    this.#isShown = false
  }
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
