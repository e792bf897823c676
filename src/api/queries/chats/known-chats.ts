import { EXCLUDED_URI } from '../../../mirror/projects/place-chats.ts'
import type { Mirror } from '../../../mirror/open.ts'
import { prepared } from '../../../mirror/sql.ts'
import { Bars, openBars } from '../../../mirror/purge/bars.ts'
import type { KnownChats } from '../../../model/chat.ts'

const HAS_MESSAGES = `
select 1 from messages where chat = (select num from chats where id = @id)
union all
select 1 from evidence join projects on projects.num = evidence.project where chat_id = @id and uri = '${EXCLUDED_URI}'
`

/** The chats that the mirror has with messages, and what it must not have: what was purged, and excluded projects. */
export function knownChats(db: Mirror): KnownChats {
  const bars = new Bars(openBars(db.name))
  return {
    hasChat: (id) => bars.hasChat(id) || prepared(db, HAS_MESSAGES).get({ id }) !== undefined,
    hasMessage: (chatId, id) => bars.hasMessage(chatId, id, () => []),
  }
}
