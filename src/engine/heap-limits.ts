import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** What is young lives in two halves of this size in the ingest thread. */
const HALF_MB = 4
/**
 * What each half may become while the thread reads very much. The values that are read at a time, 1 MB of them, are at
 * work until the last is decoded: in halves of 4 MB nearly all are copied twice before they are garbage, in these a third
 * of them once. A first pass takes a tenth less CPU for it.
 */
const HALF_MB_MAX = 16

/** After so long a rest the room that is empty is given back: see `collectGarbage`. Milliseconds. */
export const GIVE_BACK_MS = 8000

/** Node counts the two halves, and as much again for what is young and large. */
export const ingestHeapLimits = { maxYoungGenerationSizeMb: 3 * HALF_MB_MAX }

/**
 * To be said before the ingest thread is made.
 *
 * - A heap is collected when it has doubled, not when it has grown fourfold. A first pass leaves the values that it read,
 *   outside the heap, for as long as their handles lie about; and what malloc once took for them, it seldom gives back.
 * - The thread's space for what is young begins at the size that is enough for it at most times, for it cannot grow once
 *   `holdYoungSpace` was said.
 */
export function prepareIngestHeap(): void {
  setFlagsFromString('--heap-growing-percent=100')
  setFlagsFromString(`--min-semi-space-size=${HALF_MB}`)
}

/**
 * Keeps the space for what is young from growing: in the main thread the garbage of a few questions would make it
 * 32 MB, most of it never needed. V8 forgets this whenever a thread is made; to be said once that stands.
 */
export function holdYoungSpace(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** Until that is said again: for the ingest thread while it reads very much, though it holds for the main thread, too. */
export function letYoungSpaceGrow(): void {
  setFlagsFromString('--semi-space-growth-factor=2')
}

/**
 * Collects the garbage of the thread that says it, within some 50 ms: V8 does so while a heap grows, and not at rest.
 * Where next to nothing was allocated for five seconds, what is young has no more room afterwards than it began with.
 */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect === 'function') collect()
}
