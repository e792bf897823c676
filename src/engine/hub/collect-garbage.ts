import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** By how many bytes it may grow. Only very large chats need more. */
const GROWTH_MAX = 32 * 1024 * 1024

let collect: (() => void) | null = null
/** What was in use after the last collection, or less. */
let base = Infinity

/** Buffers are outside of the heap. */
function usedBytes(): number {
  const { used_heap_size: heap, external_memory: outside } = getHeapStatistics()
  return heap + outside
}

/**
 * Collects garbage now, if the memory of this thread grew by much. By itself the engine waits until it has grown several
 * times: after some chats of 60 MB that is too late.
 */
export function collectGarbage(): void {
  base = Math.min(base, usedBytes())
  if (usedBytes() < base + GROWTH_MAX) return
  if (collect === null) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
  }
  collect()
  base = usedBytes()
}
