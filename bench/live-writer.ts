import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('./write-live.js', import.meta.url))

export interface LiveText {
  readonly text: string
  /** True for the last message's, written anew. */
  readonly isRewrite: boolean
}

/** Plays Cursor in a process of its own: one commit at a time, when told. What it wrote is gone when it ends. */
export class LiveWriter {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  /** @param before how many messages its chat has already */
  static async start(path: string, before: number): Promise<LiveWriter> {
    const child = fork(program, [path, String(before)])
    await once(child, 'message')
    return new LiveWriter(child)
  }

  /** Commits a message of this text. @returns the moment when it was committed, epoch milliseconds with fractions */
  commit(text: string): Promise<number> {
    return this.#tell({ text, isRewrite: false })
  }

  /** Commits its last message anew, with this text. @returns as `commit` does */
  rewrite(text: string): Promise<number> {
    return this.#tell({ text, isRewrite: true })
  }

  async #tell(text: LiveText): Promise<number> {
    const told = once(this.#child, 'message')
    this.#child.send(text)
    const [atMs] = (await told) as [number]
    return atMs
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || !this.#child.connected) return
    const ended = once(this.#child, 'exit')
    this.#child.disconnect()
    await ended
  }
}

/** Epoch milliseconds with fractions, comparable between processes. */
export const preciseNow = (): number => performance.timeOrigin + performance.now()
