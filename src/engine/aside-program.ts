import { workerData } from 'node:worker_threads'
import { readOrdered, type ReadOrder } from '../indexer/discover.ts'
import type { AsideTaskName } from '../mirror/aside.ts'
import { cutBacklog, type CutOrder } from '../mirror/fulltext/backlog.ts'
import { CANCELLED, SENT, TAKEN, type AsideMessage, type AsideOrder, type AsideSetup } from './aside-messages.ts'

/** The program of `AsideThread`: it runs generators, and sends what they yield. */
const { port, shared } = workerData as AsideSetup

/** A notification can come just before the wait. */
const WAIT_MS = 100

interface Task {
  readonly run: (input: unknown) => Iterable<unknown>
  /** How many values may wait at most, so that memory does not grow if the writer is slower. */
  readonly aheadMax: number
}

const tasks: Readonly<Record<AsideTaskName, Task>> = {
  // The work of the two threads varies from value to value.
  'read-chats': { run: (input) => readOrdered(input as ReadOrder), aheadMax: 5 },
  'cut-terms': { run: (input) => cutBacklog(input as CutOrder), aheadMax: 2 },
}

const isCancelled = (task: number): boolean => Atomics.load(shared, CANCELLED) >= task

/** Buffers are handed over without a copy. */
const buffersOf = (value: unknown): ArrayBuffer[] =>
  Object.values(value as object).flatMap((each) => (ArrayBuffer.isView(each) ? [each.buffer as ArrayBuffer] : []))

function send(message: AsideMessage): void {
  port.postMessage(message, message.kind === 'value' ? buffersOf(message.value) : [])
  Atomics.add(shared, SENT, 1)
  Atomics.notify(shared, SENT)
}

function waitForRoom(task: number, aheadMax: number): void {
  for (;;) {
    const taken = Atomics.load(shared, TAKEN)
    if (Atomics.load(shared, SENT) - taken < aheadMax || isCancelled(task)) return
    Atomics.wait(shared, TAKEN, taken, WAIT_MS)
  }
}

port.on('message', ({ task, name, input }: AsideOrder) => {
  try {
    if (!isCancelled(task)) {
      const { run, aheadMax } = tasks[name]
      for (const value of run(input)) {
        waitForRoom(task, aheadMax)
        if (isCancelled(task)) break
        send({ task, kind: 'value', value })
      }
    }
    send({ task, kind: 'end' })
  } catch {
    // The writer does this work itself, and meets the same error.
    send({ task, kind: 'failed' })
  }
})
