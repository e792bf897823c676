import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('./write-live.js', import.meta.url))

export interface LiveText {
  readonly text: string
  /** True if the last message is written again. */
  readonly isRewrite: boolean
}

/** Plays Cursor in its own process: one commit for each request. At its end it deletes what it wrote. */
export class LiveWriter {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  /** @param before how many messages the chat already has */
  static async start(path: string, before: number): Promise<LiveWriter> {
    const child = fork(program, [path, String(before)])
    await once(child, 'message')
    return new LiveWriter(child)
  }

  /** Commits a message with this text. @returns the time of the commit, in epoch milliseconds with fractions */
  commit(text: string): Promise<number> {
    return this.#tell({ text, isRewrite: false })
  }

  /** Writes its last message again, with this text. @returns the same as `commit` */
  rewrite(text: string): Promise<number> {
    return this.#tell({ text, isRewrite: true })
  }

  async #tell(text: LiveText): Promise<number> {
    const reply = once(this.#child, 'message')
    this.#child.send(text)
    const [atMs] = (await reply) as [number]
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

/** Words that no generated text contains, one for each number. */
export const liveWord = (stem: string, index: number): string =>
  stem + String(index).replaceAll(/\d/g, (digit) => 'qwrtzpsdfg'.charAt(Number(digit)))
