import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

let collect: (() => void) | null = null
/** What was in use after the last collection, or less. */
let base = Infinity

/** Buffers are outside of the heap. */
function usedBytes(): number {
  const { used_heap_size: heap, external_memory: outside } = getHeapStatistics()
  return heap + outside
}

/**
 * Collects garbage now, if the memory of this thread grew by much since the last time. By itself the engine waits until it
 * has grown several times: after some chats of 60 MB that is too late.
 * @param growthMax bytes
 */
export function collectGarbage(growthMax: number): void {
  base = Math.min(base, usedBytes())
  if (usedBytes() < base + growthMax) return
  if (collect === null) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
  }
  collect()
  base = usedBytes()
}
