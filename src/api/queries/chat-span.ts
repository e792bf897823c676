import type { ChatId } from '../../model/ids.ts'
import type { Mirror } from '../../mirror/open.ts'

export interface ChatSpan {
  /** Epoch milliseconds. */
  readonly startedAtMs: number
  readonly endedAtMs: number
}

const SPAN = `
  select coalesce(created_at, last_activity_at) as startedAtMs, coalesce(last_activity_at, created_at) as endedAtMs
  from chats where id = ?
`

/** From when to when a chat was there; null where that is not known, or no chat has this id. */
export function readChatSpan(db: Mirror, id: ChatId): ChatSpan | null {
  const span = db.prepare<[string], Partial<Record<keyof ChatSpan, number | null>>>(SPAN).get(id)
  const { startedAtMs = null, endedAtMs = null } = span ?? {}
  return startedAtMs === null || endedAtMs === null ? null : { startedAtMs, endedAtMs }
}
