import { Worker } from 'node:worker_threads'

/**
 * Starts the writer's thread. It loads its modules in about 100 ms, while the main thread loads its own. Then it waits for
 * its setup.
 */
export function startWriterThread(): Worker {
  return new Worker(new URL('../engine/writer-thread.js', import.meta.url))
}
