import { workerData } from 'node:worker_threads'
import { makeOrderReader } from '../indexer/discover.ts'
import { BatchCutter } from '../mirror/cut-batch.ts'
import type { AsideAnswer, AsideOrder, AsideSetup, AsideTask } from './aside-messages.ts'

/**
 * The thread that works beside the ingest thread during a first run: it reads and decodes what is to be written next,
 * and cuts messages into terms. It writes nothing and keeps no file open between two tasks.
 */
const { port, answered } = workerData as AsideSetup
const reader = makeOrderReader()
const cutter = new BatchCutter()

interface Done {
  readonly answer: unknown
  /** What is handed over instead of copied. */
  readonly handed: readonly ArrayBuffer[]
}

function work(task: AsideTask): Done {
  switch (task.kind) {
    case 'read':
      return { answer: reader.read(task.order), handed: [] }
    case 'read-on':
      return { answer: reader.readOn(), handed: [] }
    default: {
      const batch = cutter.cut(task.parts)
      return { answer: batch, handed: [batch.bytes.buffer, batch.lengths.buffer] }
    }
  }
}

/** What fails here is done once more by the one who asked, and told where it fails again. */
function tryWork(task: AsideTask): Done {
  try {
    return work(task)
  } catch {
    return { answer: null, handed: [] }
  }
}

port.on('message', ({ id, task }: AsideOrder) => {
  const { answer, handed } = tryWork(task)
  port.postMessage({ id, answer } satisfies AsideAnswer, handed)
  Atomics.add(answered, 0, 1)
  Atomics.notify(answered, 0)
})
