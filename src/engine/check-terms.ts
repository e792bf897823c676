import type { ChildProcess } from 'node:child_process'
import { withMemoryBudget, type MemoryBudget } from './memory-budget.ts'
import { startChild } from './start-child.ts'

/** The check of the full-text tables in a process of its own, which takes 60 MB. */
export class TermsCheck {
  readonly #mirrorPath: string
  readonly #room: MemoryBudget
  #child: ChildProcess | null = null
  #isAtWork = false
  #isStopped = false

  constructor(mirrorPath: string, room: MemoryBudget) {
    this.#mirrorPath = mirrorPath
    this.#room = room
  }

  get isAtWork(): boolean {
    return this.#isAtWork
  }

  /** True, too, where no answer came: damage that is real is found again. */
  async run(): Promise<boolean> {
    this.#isAtWork = true
    try {
      return await withMemoryBudget(this.#room, async () => this.#isStopped || (await this.#runInProcess()))
    } finally {
      this.#isAtWork = false
    }
  }

  stop(): void {
    this.#isStopped = true
    this.#child?.kill('SIGKILL')
  }

  /** Resolves once the process has ended. */
  #runInProcess(): Promise<boolean> {
    const child = startChild('check-child', [this.#mirrorPath])
    this.#child = child
    let isSound = true
    child.on('message', (answer) => (isSound = answer === true))
    return new Promise((resolve) => {
      child.on('error', () => resolve(true))
      child.on('exit', () => resolve(isSound))
    })
  }
}
