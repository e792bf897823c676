import { openReader, type Mirror, type ReaderOptions } from '../mirror/open.ts'

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

/**
 * A connection that opens at the first question. If that fails, the next question tries again.
 * @param options by default those for lists and counts, which need no index
 */
export function lazyReader(
  path: string,
  options: ReaderOptions = { cacheKb: READER_KB, isIndexWanted: false },
): LazyReader {
  let mirror: Mirror | null = null
  return {
    open: () => (mirror ??= openReader(path, options)),
    close: () => {
      mirror?.close()
      mirror = null
    },
  }
}
