import { EventEmitter } from 'node:events'
import { MessageChannel, type MessagePort, type Worker } from 'node:worker_threads'
import type { EngineContext } from '../../src/engine/engine.ts'
import { runJob } from '../../src/engine/jobs/jobs.ts'
import type { Threads } from '../../src/engine/writer/on-demand.ts'
import { serveIndex } from '../../src/engine/writer/serve-index.ts'
import { serveWriter } from '../../src/engine/writer/serve-writer.ts'
import { noteIfDamaged } from '../../src/mirror/damage/clean-mark.ts'
import { openReader, type Mirror } from '../../src/mirror/open.ts'

/** The other side of a thread's port, with what the program uses of a thread. */
function workerOf(serve: (port: MessagePort) => void): Worker {
  const { port1, port2 } = new MessageChannel()
  serve(port2)
  const worker = new EventEmitter()
  port1.on('message', (message) => worker.emit('message', message))
  port1.on('close', () => worker.emit('exit', 0))
  const postMessage = (message: unknown): void => port1.postMessage(message)
  return Object.assign(worker, { postMessage, terminate: async () => port1.close() }) as unknown as Worker
}

/** The writer and the index in the test's own process: the program's threads are compiled only in a build. */
export const threadsHere: Threads = {
  writer: () => workerOf(serveWriter),
  index: (mirrorPath) => workerOf((port) => serveIndex(port, mirrorPath)),
}

/** Runs jobs in the test's own process. @param reader the connection for questions */
export const executorHere = (mirrorPath: string, reader: () => Mirror): EngineContext['executor'] => ({
  async run(name, input, onProgress = () => undefined) {
    let own: Mirror | null = null
    const mirror = name === 'search' ? reader : () => (own ??= openReader(mirrorPath))
    try {
      return await runJob(name, input, { mirrorPath, mirror, onProgress })
    } catch (error) {
      throw noteIfDamaged(mirrorPath, error)
    } finally {
      ;(own as Mirror | null)?.close()
    }
  },
  close: async () => undefined,
})
