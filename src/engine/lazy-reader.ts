import { openReader, type Mirror } from '../mirror/open.ts'

export interface LazyReader {
  open(): Mirror
  /** The next question opens it again. */
  close(): void
}

/**
 * The page cache for lists and counts. It is small, because the system caches the file too, and malloc seldom gives memory
 * back.
 */
const READER_KB = 2000

/** A connection for lists and counts, which need no index. It opens at the first question. If that fails, the next question tries again. */
export function lazyReader(path: string): LazyReader {
  let mirror: Mirror | null = null
  return {
    open: () => (mirror ??= openReader(path, { cacheKb: READER_KB, isIndexWanted: false })),
    close: () => {
      mirror?.close()
      mirror = null
    },
  }
}
