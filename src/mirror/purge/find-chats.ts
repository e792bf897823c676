import type { ChatId } from '../../model/ids.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../prepared.ts'
import type { PurgeScope } from './scope.ts'

export interface ScopedChat {
  readonly num: number
  readonly id: ChatId
  /** True where all that was said is earlier than the scope's moment, or it names none. */
  readonly isEarlier: boolean
}

const FAMILY = `
with recursive family (id) as (
  select value from json_each(@ids)
  union
  select chats.id from chats join family on chats.parent_chat_id = family.id
  union
  select chat_links.child_id from chat_links join family on chat_links.parent_id = family.id
)
select id from family
`

/** These chats and the subagents that they called, at any remove; known here or not. */
export function withSubagents(db: Mirror, ids: readonly ChatId[]): ChatId[] {
  const bound = { ids: JSON.stringify(ids) }
  return prepared<{ id: ChatId }>(db, FAMILY)
    .all(bound)
    .map(({ id }) => id)
}

const SCOPED = `
select num, id,
  @before is null or (
    coalesce(last_activity_at, created_at) < @before
    and not exists (select 1 from messages where messages.chat = chats.num and messages.created_at >= @before)
  ) as isEarlier
from chats
where (@ids is null or id in (select value from json_each(@ids)))
  and (@uris is null or project in (select num from projects where uri in (select value from json_each(@uris))))
order by num
`

/** The chats that a scope's names leave, its moment and its text aside. */
export function findChats(db: Mirror, { chatIds, projectUris, beforeMs }: PurgeScope): ScopedChat[] {
  const bound = {
    ids: chatIds === null ? null : JSON.stringify(withSubagents(db, chatIds)),
    uris: projectUris === null ? null : JSON.stringify(projectUris),
    before: beforeMs,
  }
  const rows = prepared<{ num: number; id: ChatId; isEarlier: number | null }>(db, SCOPED).all(bound)
  return rows.map(({ num, id, isEarlier }) => ({ num, id, isEarlier: isEarlier === 1 }))
}

const IN_PROJECTS = `
select project in (select num from projects where uri in (select value from json_each(?))) as isIn from chats where id = ?
`

/** Whether a chat lies in one of the projects of these roots; null for one that is not held. */
export function isInProjects(db: Mirror, id: ChatId, uris: readonly string[]): boolean | null {
  const row = prepared<{ isIn: number | null }>(db, IN_PROJECTS).get(JSON.stringify(uris), id)
  return row === undefined ? null : row.isIn === 1
}
