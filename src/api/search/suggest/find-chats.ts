import type { Mirror } from '../../../mirror/open.ts'
import { prepared } from '../../../mirror/prepared.ts'
import { expressionOf, type Match } from '../plan/condition.ts'

export interface SuggestedChat {
  readonly id: string
  readonly title: string
  readonly lastActivityAtMs: number | null
}

/** So many of the last chats with such a title are looked at. */
const LOOKED_AT = 100

const WITH_TITLE = `
  select c.id, c.title, c.last_activity_at as lastActivityAtMs
  from chat_terms cross join chats c on c.num = chat_terms.rowid
  where chat_terms match @match and exists (select 1 from messages m where m.chat = c.num)
  order by chat_terms.rowid desc
  limit ${LOOKED_AT}
`

/** Chats by their titles, the last active first. */
export function findChats(db: Mirror, match: Match): readonly SuggestedChat[] {
  const found = prepared<SuggestedChat>(db, WITH_TITLE).all({ match: `{title} : (${expressionOf(match)})` })
  return found.sort((a, b) => (b.lastActivityAtMs ?? 0) - (a.lastActivityAtMs ?? 0))
}
