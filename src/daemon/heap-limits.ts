import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** What is young lives in two halves of this size in the ingest thread; V8 would let each grow to 16 MB. */
const INGEST_HALF_MB = 4

/** Node counts the two halves, and as much again for what is young and large. */
export const ingestHeapLimits = { maxYoungGenerationSizeMb: 3 * INGEST_HALF_MB }

/**
 * To be said before the ingest thread is made.
 *
 * - A heap is collected when it has doubled, not when it has grown fourfold. A first pass leaves the values that it read,
 *   outside the heap, for as long as their handles lie about; and what malloc once took for them, it seldom gives back.
 * - The thread's space for what is young begins at its full size, for it cannot grow once `holdYoungSpace` was said.
 */
export function prepareIngestHeap(): void {
  setFlagsFromString('--heap-growing-percent=100')
  setFlagsFromString(`--min-semi-space-size=${INGEST_HALF_MB}`)
}

/**
 * Keeps the space for what is young from growing: in the main thread the garbage of a few questions would make it
 * 32 MB, most of it never needed. V8 forgets this whenever a thread is made; to be said once that stands.
 */
export function holdYoungSpace(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** Collects the garbage of the thread that says it, within some 50 ms: V8 does so while a heap grows, and not at rest. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect === 'function') collect()
}
