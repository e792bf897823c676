import type { ChatId } from '../../../model/ids.ts'
import type { Mirror } from '../../../mirror/open.ts'

export interface ChatSpan {
  /** Epoch milliseconds. */
  readonly startedAtMs: number
  readonly endedAtMs: number
}

/** Of a circle of chats each stands once. */
const SPAN = `
  with recursive family (id) as (
    select @id
    union select c.id from family f join chats c on c.parent_chat_id = f.id
    union select l.child_id from family f join chat_links l on l.parent_id = f.id
  )
  select min(coalesce(created_at, last_activity_at)) as startedAtMs,
    max(coalesce(last_activity_at, created_at)) as endedAtMs
  from chats where id in (select id from family)
`

/** From when to when a chat was there, or a subagent of it; null where that is not known, or no chat has this id. */
export function readChatSpan(db: Mirror, id: ChatId): ChatSpan | null {
  const span = db.prepare<[object], Partial<Record<keyof ChatSpan, number | null>>>(SPAN).get({ id })
  const { startedAtMs = null, endedAtMs = null } = span ?? {}
  return startedAtMs === null || endedAtMs === null ? null : { startedAtMs, endedAtMs }
}
