import type { MiddlewareHandler } from 'hono'
import type { ApiContext, LiveState } from '../context.ts'

/** Fewer unread rows are normal while an agent works: they are read within a second. */
const LEFT_MIN = 100

/** The header of an answer from a mirror into which Cursor's stores are still being read. */
export const UNREAD_HEADER = 'cursordex-unread'

/** What the mirror still lacks of Cursor's stores, as a sentence; null if that is almost nothing. */
export function unreadText(live: LiveState): string | null {
  const { progress, wasAllRead = true } = live
  const left = progress?.stage === 'reading' ? progress.total - progress.done : 0
  if (left >= LEFT_MIN) {
    return `${left} rows of Cursor's stores are missing here: they are still being read. See "cursordex status".`
  }
  // The progress is about one store at a time. There is none during indexing, or if the disk is full.
  const isAllRead = wasAllRead || live.state === 'ready'
  return isAllRead ? null : "Some of Cursor's data is missing here: it has not been read yet."
}

/** Adds that sentence as a header, for answers that have no field for it. */
export function warnOfUnread(context: ApiContext): MiddlewareHandler {
  return async (c, next) => {
    // Before the answer is made, because rows that are read meanwhile may be in it.
    const unread = unreadText(context.live())
    await next()
    if (unread !== null) c.header(UNREAD_HEADER, unread)
  }
}
