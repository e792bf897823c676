import { openReader, type Mirror } from '../mirror/open.ts'
import { UserError } from '../model/user-error.ts'

export interface LazyReader {
  open(): Mirror
  close(): void
  /** Closes it, for the mirror's file is to be another. */
  shut(): void
  reopen(): void
}

/** For lists and counts; the system keeps the file's pages too, and what malloc once took stays with the process. */
const READER_KB = 2000

/** Opened at the first question; a failure is tried again at the next. */
export function lazyReader(path: string): LazyReader {
  let mirror: Mirror | null = null
  let isShut = false
  const close = (): void => {
    mirror?.close()
    mirror = null
  }
  return {
    open: () => {
      if (isShut) throw new UserError('mirror-missing', 'A new mirror is being made.', 'Ask again in a moment.')
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
