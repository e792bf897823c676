import type { Progress } from '../api/http/world.ts'

const BAR_WIDTH = 24

/** Shows the first indexing on a terminal, in one line that is written over; elsewhere it is silent. */
export class ProgressLine {
  readonly #out: NodeJS.WriteStream
  #isShown = false

  constructor(out: NodeJS.WriteStream) {
    this.#out = out
  }

  show(progress: Progress | null): void {
    if (!this.#out.isTTY) return
    if (progress === null) {
      this.clear()
      return
    }
    this.#isShown = true
    this.#out.write(`\r\u001b[K${progressText(progress)}`)
  }

  clear(): void {
    if (this.#isShown) this.#out.write('\r\u001b[K')
    this.#isShown = false
  }
}

/** `Reading  ████████                 33%  1,234 of 3,700 rows, 2 s left` */
export function progressText({ stage, done, total, etaMs }: Progress): string {
  const share = total === 0 ? 0 : Math.min(1, done / total)
  const filled = Math.round(share * BAR_WIDTH)
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled)
  const left = etaMs === null ? '' : `, ${Math.ceil(etaMs / 1000)} s left`
  const [verb, unit] = stage === 'reading' ? ['Reading ', 'rows'] : ['Indexing', 'messages']
  return `${verb} ${bar} ${Math.floor(share * 100)}%  ${count(done)} of ${count(total)} ${unit}${left}`
}

const count = (value: number): string => value.toLocaleString('en')
