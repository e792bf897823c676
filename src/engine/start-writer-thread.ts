import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { holdYoungSpace, ingestHeapLimits, prepareIngestHeap } from './heap-limits.ts'

/**
 * Starts the thread that reads Cursor and writes the mirror. It loads its own modules, for some 100 ms, while whoever
 * starts it does the same with theirs, and then waits to be told where the mirror lies.
 */
export function startIngestThread(): Worker {
  prepareIngestHeap()
  optimizeLater()
  const thread = new Worker(new URL('../engine/writer-thread.js', import.meta.url), {
    resourceLimits: ingestHeapLimits,
  })
  thread.once('online', holdYoungSpace)
  return thread
}

/**
 * Node 20 alone: a function is optimized once it has run about twice as long as by default. The newest 1,000 messages are
 * found some 30 ms sooner after a first start, and a first pass takes 2% less CPU. Later Nodes have a compiler in between,
 * and no such setting.
 */
function optimizeLater(): void {
  if (process.versions.v8.startsWith('11.')) setFlagsFromString('--interrupt-budget=150000')
}
