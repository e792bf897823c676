import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** V8 keeps young objects in two halves of this size. This is their first size in the writer's thread. */
const HALF_MB = 4
/**
 * The largest size of each half, while the thread reads very much. One read gets 1 MB of values, and all of them stay in
 * use until the last is decoded. In halves of 4 MB V8 copies nearly all of them twice before they are garbage. In halves of
 * 16 MB it copies a third of them once. This saves a tenth of the CPU time of a first pass.
 */
const HALF_MB_MAX = 16

/** After this many milliseconds at rest, a second collection gives empty memory back. See `collectGarbage`. */
export const GIVE_BACK_MS = 8000

/** Node counts the two halves, and the same size again for young objects that are large. */
export const ingestHeapLimits = { maxYoungGenerationSizeMb: 3 * HALF_MB_MAX }

/**
 * Must be called before the writer's thread starts.
 *
 * - V8 collects a heap when it has doubled, not when it has grown fourfold. Values that a first pass read stay in memory
 *   outside the heap until their handles are collected, and malloc seldom gives such memory back.
 * - The young generation of the thread starts with the size that it usually needs, because it cannot grow after
 *   `holdYoungSpace`.
 */
export function prepareIngestHeap(): void {
  setFlagsFromString('--heap-growing-percent=100')
  setFlagsFromString(`--min-semi-space-size=${HALF_MB}`)
}

/**
 * Stops the young generation from growing. In the main thread the garbage of a few questions would make it 32 MB, most of
 * it never needed. V8 forgets this setting whenever a thread starts, so call it after that.
 */
export function holdYoungSpace(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** Lets it grow until `holdYoungSpace` is called again, while the writer's thread reads very much. It affects all threads. */
export function letYoungSpaceGrow(): void {
  setFlagsFromString('--semi-space-growth-factor=2')
}

/**
 * V8 12 and later keep the pages that a collection empties in a pool. Only the last resort gives them back: on Node 24 the
 * daemon rests at 180 MB after a large first run, and not at 230 MB. Node 20 has V8 11, which does not keep them.
 */
const GIVES_BACK = { type: 'major', execution: 'sync', flavor: 'last-resort' }
const hasPool = Number(process.versions.v8.split('.')[0]) >= 12

/**
 * Collects the garbage of the calling thread, in about 50 ms. V8 does so by itself while a heap grows, but not at rest.
 * If almost nothing was allocated for five seconds, the young generation shrinks to its first size.
 */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect === 'function') collect(...(hasPool ? [GIVES_BACK] : []))
}
