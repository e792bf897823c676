import { openReader, type Mirror, type ReaderOptions } from '../mirror/open.ts'

export type LazyReader = ReturnType<typeof lazyReader>

/** For lists and counts. The cache is small: the system caches the file too, and malloc seldom gives memory back. */
const forLists: ReaderOptions = { cacheKb: 2000, isIndexWanted: false }

/** A connection that opens at the first question. If that fails, the next question tries again. */
export function lazyReader(path: string, options = forLists) {
  let mirror: Mirror | null = null
  return {
    open: (): Mirror => (mirror ??= openReader(path, options)),
    /** The next question opens it again. */
    close(): void {
      mirror?.close()
      mirror = null
    },
  }
}
