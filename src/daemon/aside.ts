import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads'
import type { ReadingThread } from '../indexer/reading-thread.ts'
import { CutAhead, type CuttingThread } from '../mirror/cut-ahead.ts'
import type { CutBatch } from '../mirror/cut-batch.ts'
import type { AsideAnswer, AsideOrder, AsideSetup, AsideTask } from './aside-messages.ts'
import { holdYoungSpace, ingestHeapLimits } from './heap-limits.ts'

/** A task takes a tenth of a second; a thread that does not answer for so long is given up. */
const WAIT_MS = 30_000

/**
 * A second thread for the ingest thread, which goes on being the one writer. An answer is waited for by blocking: steps
 * of a pass are synchronous. Once it failed to answer it is asked for nothing more, and all is done without it.
 */
export class Aside implements ReadingThread, CuttingThread {
  readonly #ahead = new CutAhead(this)
  readonly #worker: Worker
  readonly #port: MessagePort
  readonly #answered = new Int32Array(new SharedArrayBuffer(4))
  readonly #answers = new Map<number, unknown>()
  #asked = 0
  #isOver = false

  constructor() {
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    this.#worker = new Worker(new URL('../daemon/aside-worker.js', import.meta.url), {
      workerData: { port: port2, answered: this.#answered } satisfies AsideSetup,
      transferList: [port2],
      resourceLimits: ingestHeapLimits,
    })
    this.#worker.once('online', holdYoungSpace)
    this.#worker.on('error', () => this.close())
    // It ends with the thread that it helps.
    this.#worker.unref()
    port1.unref()
  }

  read(order: unknown): () => unknown {
    return this.#ask({ kind: 'read', order })
  }

  readOn(): () => unknown {
    return this.#ask({ kind: 'read-on' })
  }

  cut(parts: readonly string[]): () => CutBatch | null {
    return this.#ask({ kind: 'cut', parts }) as () => CutBatch | null
  }

  close(): void {
    this.#isOver = true
    this.#port.close()
    void this.#worker.terminate()
  }

  /** What is left of the backlog is cut in order, whichever run it falls to. */
  get cutAhead(): CutAhead {
    return this.#ahead
  }

  #ask(task: AsideTask): () => unknown {
    this.#asked += 1
    const id = this.#asked
    if (!this.#isOver) this.#port.postMessage({ id, task } satisfies AsideOrder)
    return () => this.#take(id)
  }

  #take(id: number): unknown {
    while (!this.#isOver && !this.#answers.has(id)) {
      const before = Atomics.load(this.#answered, 0)
      const received: { readonly message: AsideAnswer } | undefined = receiveMessageOnPort(this.#port)
      if (received !== undefined) this.#answers.set(received.message.id, received.message.answer)
      else if (Atomics.wait(this.#answered, 0, before, WAIT_MS) === 'timed-out') this.close()
    }
    const answer = this.#answers.get(id) ?? null
    this.#answers.delete(id)
    return answer
  }
}
