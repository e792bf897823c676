import { openReader, type Mirror } from '../mirror/open.ts'
import { UserError } from '../model/user-error.ts'

export interface LazyReader {
  open(): Mirror
  close(): void
  /** Closes the connection, because the mirror's file is about to be replaced. */
  shut(): void
  reopen(): void
}

/**
 * The page cache for lists and counts. It is small, because the system caches the file too, and malloc seldom gives memory
 * back.
 */
const READER_KB = 2000

/** A connection that opens at the first question. If that fails, the next question tries again. */
export function lazyReader(path: string): LazyReader {
  let mirror: Mirror | null = null
  let isShut = false
  const close = (): void => {
    mirror?.close()
    mirror = null
  }
  return {
    open: () => {
      if (isShut) throw new UserError('mirror-missing', 'A new mirror is being created.', 'Ask again in a moment.')
      return (mirror ??= openReader(path, READER_KB))
    },
    close,
    shut: () => {
      isShut = true
      close()
    },
    reopen: () => {
      isShut = false
    },
  }
}
