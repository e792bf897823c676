import type { ChildProcess } from 'node:child_process'
import { startChild } from './start-child.ts'

/** The check of the full-text tables in a process of its own. */
export class TermsCheck {
  readonly #mirrorPath: string
  #child: ChildProcess | null = null

  constructor(mirrorPath: string) {
    this.#mirrorPath = mirrorPath
  }

  /** True, too, where no answer came: damage that is real is found again. */
  run(): Promise<boolean> {
    const child = startChild('check-child', [this.#mirrorPath])
    this.#child = child
    return new Promise((resolve) => {
      child.on('message', (isSound) => resolve(isSound === true))
      child.on('error', () => resolve(true))
      child.on('exit', () => resolve(true))
    })
  }

  stop(): void {
    this.#child?.kill('SIGKILL')
  }
}
