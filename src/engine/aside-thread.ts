import { availableParallelism, totalmem } from 'node:os'
import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads'
import type { Aside, AsideTask, AsideTaskName, Taken } from '../mirror/aside.ts'
import { CANCELLED, SENT, TAKEN, type AsideMessage, type AsideOrder, type AsideSetup } from './aside-messages.ts'

/** With less, everything is done on one thread. */
const MEMORY_BYTES_MIN = 2 * 1024 ** 3
const CORES_MIN = 2

/** More makes it hardly faster, and costs memory. */
const YOUNG_MB_MAX = 24

/** How long `take` waits. The writer looks for a stop order in between. */
const WAIT_MS = 20

/** True if this machine has a core and memory to spare for a second thread. */
export const isRoomAside = (): boolean => availableParallelism() >= CORES_MIN && totalmem() >= MEMORY_BYTES_MIN

/** The second thread of a large pass. It starts when it is first needed, and `rest` ends it. */
export class AsideThread implements Aside {
  #running: Running | null = null

  wake(): void {
    this.#running ??= new Running()
  }

  start<Value>(name: AsideTaskName, input: unknown): AsideTask<Value> | null {
    this.wake()
    return this.#running?.isReady === true ? this.#running.start(name, input) : null
  }

  /** Ends the thread, so that its memory is free. */
  rest(): void {
    this.#running?.stop()
    this.#running = null
  }
}

class Running {
  isReady = false
  readonly #worker: Worker
  readonly #port: MessagePort
  readonly #shared = new Int32Array(new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT))
  readonly #received = new Map<number, AsideMessage[]>()
  #last: { readonly task: number; readonly name: AsideTaskName } = { task: 0, name: 'read-chats' }

  constructor() {
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    const setup: AsideSetup = { port: port2, shared: this.#shared }
    this.#worker = new Worker(new URL('../engine/aside-program.js', import.meta.url), {
      workerData: setup,
      transferList: [port2],
      resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB_MAX },
    })
    this.#worker.once('online', () => (this.isReady = true))
    // Whoever waits for a value then does the work itself.
    for (const event of ['error', 'exit'] as const) this.#worker.on(event, () => (this.isReady = false))
    this.#worker.unref()
  }

  start<Value>(name: AsideTaskName, input: unknown): AsideTask<Value> {
    if (name !== this.#last.name) this.#cancel(this.#last.task)
    const task = this.#last.task + 1
    this.#last = { task, name }
    this.#received.set(task, [])
    this.#port.postMessage({ task, name, input } satisfies AsideOrder)
    return { take: () => this.#take(task) as Taken<Value>, cancel: () => this.#cancel(task) }
  }

  #take(task: number): Taken<unknown> {
    const sent = Atomics.load(this.#shared, SENT)
    let message = this.#next(task)
    if (message === undefined && this.isReady && this.#received.has(task)) {
      Atomics.wait(this.#shared, SENT, sent, WAIT_MS)
      message = this.#next(task)
    }
    if (message === undefined) return { kind: this.isReady && this.#received.has(task) ? 'later' : 'failed' }
    this.#noteTaken()
    return message.kind === 'value' ? { kind: 'value', value: message.value } : { kind: message.kind }
  }

  #next(task: number): AsideMessage | undefined {
    for (let got = receiveMessageOnPort(this.#port); got !== undefined; got = receiveMessageOnPort(this.#port)) {
      const message = got.message as AsideMessage
      const received = this.#received.get(message.task)
      if (received === undefined) this.#noteTaken()
      else received.push(message)
    }
    return this.#received.get(task)?.shift()
  }

  #noteTaken(): void {
    Atomics.add(this.#shared, TAKEN, 1)
    Atomics.notify(this.#shared, TAKEN)
  }

  #cancel(upTo: number): void {
    for (const [task, messages] of this.#received) {
      if (task > upTo) continue
      for (const _ of messages) this.#noteTaken()
      this.#received.delete(task)
    }
    Atomics.store(this.#shared, CANCELLED, Math.max(upTo, Atomics.load(this.#shared, CANCELLED)))
    // It may be waiting until a value is taken.
    Atomics.notify(this.#shared, TAKEN)
  }

  stop(): void {
    this.isReady = false
    this.#port.close()
    void this.#worker.terminate()
  }
}
