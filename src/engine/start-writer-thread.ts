import { Worker } from 'node:worker_threads'

/**
 * With a limit below 2 GB, V8 collects garbage when the memory in use has doubled, else only when it is four times as much.
 * The largest chats need a tenth of it.
 */
const OLD_MB_MAX = 2000

/**
 * Starts the writer's thread. It loads its modules in about 100 ms, while the main thread loads its own. Then it waits for
 * its setup.
 */
export function startWriterThread(): Worker {
  return new Worker(new URL('../engine/writer-thread.js', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: OLD_MB_MAX },
  })
}
