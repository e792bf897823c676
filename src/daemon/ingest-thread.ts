import { Worker } from 'node:worker_threads'
import { holdYoungSpace, ingestHeapLimits, prepareIngestHeap } from './heap-limits.ts'

/**
 * Starts the thread that reads Cursor and writes the mirror. It loads its own modules, for some 100 ms, while whoever
 * starts it does the same with theirs, and then waits to be told where the mirror lies.
 */
export function startIngestThread(): Worker {
  prepareIngestHeap()
  const thread = new Worker(new URL('../daemon/ingest-worker.js', import.meta.url), {
    resourceLimits: ingestHeapLimits,
  })
  thread.once('online', holdYoungSpace)
  return thread
}
