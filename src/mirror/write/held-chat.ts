import type { Mirror } from '../open.ts'
import { ARCHIVE } from '../sources/sources.ts'
import { prepared } from '../sql.ts'
import type { ChatId } from '../../model/ids.ts'

/** What the mirror has of a chat. A restore adds the rest. */
export interface HeldChat {
  /** Whether a store of Cursor has, or once had, the chat's own row. */
  readonly isTold: boolean
  /** Whether an archive has it. */
  readonly isRemembered: boolean
  readonly hasProject: boolean
  /** Epoch milliseconds, from its rows and lists. */
  readonly updatedAtMs: number | null
  /** Ids of its messages from all sources, live or not, and of messages that only an older decoder yielded. */
  readonly messageIds: ReadonlySet<string>
}

const FIND = `
select project is not null as hasProject, cursor_updated_at as updatedAtMs from chats where id = ? and machine is null
`
const LIST_TELLING = `
select distinct kind = '${ARCHIVE}' from outlines join sources on sources.num = outlines.source
where outlines.chat = (select num from chats where id = ?)
`
const LIST_IDS = `
select id from messages where chat = (select num from chats where chats.id = @id)
union select id from superseded_messages where chat_id = @id
`

/** Null if the mirror has nothing of the chat. A pulled copy is nothing: it goes when a source of this machine has the chat. */
export function findHeldChat(db: Mirror, id: ChatId): HeldChat | null {
  const found = prepared<{ hasProject: number; updatedAtMs: number | null }>(db, FIND).get(id)
  if (found === undefined) return null
  const telling = prepared<number>(db, LIST_TELLING).pluck().all(id)
  return {
    isTold: telling.includes(0),
    isRemembered: telling.includes(1),
    hasProject: found.hasProject === 1,
    updatedAtMs: found.updatedAtMs,
    messageIds: new Set(prepared<string>(db, LIST_IDS).pluck().all({ id })),
  }
}

const MACHINE_OF = `select machine from chats where id = ?`
/** Null for a chat of this machine, undefined if there is none. */
const machineOf = (db: Mirror, id: ChatId): number | null | undefined =>
  prepared<number | null>(db, MACHINE_OF).pluck().get(id)

export const isMirrored = (db: Mirror, id: ChatId): boolean => machineOf(db, id) !== undefined

/** Whether a source of this machine has the chat, or once had it. */
export const isOwn = (db: Mirror, id: ChatId): boolean => machineOf(db, id) === null

export const isPulled = (db: Mirror, id: ChatId): boolean => typeof machineOf(db, id) === 'number'
