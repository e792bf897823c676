import type { MiddlewareHandler } from 'hono'
import type { ApiContext, LiveState } from './api-context.ts'

/** An agent at work always has some rows that are read within the second: they are not worth a word. */
const LEFT_MIN = 100

/** The header of what is answered out of a mirror into which Cursor's stores are still being read. */
export const UNREAD_HEADER = 'cursordex-unread'

/** What of Cursor's the mirror cannot hold yet, in words for a person; null where that is next to nothing. */
export function unreadText({ state, progress, wasAllRead = true }: LiveState): string | null {
  const left = progress?.stage === 'reading' ? progress.total - progress.done : 0
  if (left >= LEFT_MIN) {
    return `${left} rows of Cursor's are missing here: they are still being read. See "cursordex status".`
  }
  // The progress tells of one store at a time, and of none while what was read is indexed, or the disk is full.
  const isAllRead = wasAllRead || state === 'ready'
  return isAllRead ? null : 'Some of what Cursor holds is missing here: it is not read yet.'
}

/** Tells it beside an answer whose shape has no place for it, so that no part is taken for all. */
export function tellUnread(world: ApiContext): MiddlewareHandler {
  return async (c, next) => {
    // Before the answer is made: what is read meanwhile may be in it.
    const unread = unreadText(world.live())
    await next()
    if (unread !== null) c.header(UNREAD_HEADER, unread)
  }
}
