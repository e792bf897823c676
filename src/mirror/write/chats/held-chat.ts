import type { ChatId } from '../../../model/ids.ts'
import type { Mirror } from '../../open.ts'
import { prepared } from '../../prepared.ts'
import { ARCHIVE } from '../../sources/source-ranks.ts'
import { listSuperseded } from './superseded.ts'

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
select num, project is not null as hasProject, cursor_updated_at as updatedAtMs, exists (
  select 1 from outlines join sources on sources.num = outlines.source
  where outlines.chat = chats.num and kind <> '${ARCHIVE}'
) as isTold, exists (
  select 1 from outlines join sources on sources.num = outlines.source
  where outlines.chat = chats.num and kind = '${ARCHIVE}'
) as isRemembered
from chats where id = ? and machine is null
`
const LIST_IDS = `select distinct id from messages where chat = ?`

interface FoundChat {
  readonly num: number
  readonly isTold: number
  readonly isRemembered: number
  readonly hasProject: number
  readonly updatedAtMs: number | null
}

/** Null if the mirror has nothing of the chat. A pulled copy is nothing: it goes when a source of this machine has the chat. */
export function findHeldChat(db: Mirror, id: ChatId): HeldChat | null {
  const found = prepared<FoundChat>(db, FIND).get(id)
  if (found === undefined) return null
  const { num, isTold, isRemembered, hasProject, updatedAtMs } = found
  const messageIds = new Set([...prepared<string>(db, LIST_IDS).pluck().all(num), ...listSuperseded(db, id)])
  return {
    isTold: isTold === 1,
    isRemembered: isRemembered === 1,
    hasProject: hasProject === 1,
    updatedAtMs,
    messageIds,
  }
}

const IS_MIRRORED = `select 1 from chats where id = ?`
export const isMirrored = (db: Mirror, id: ChatId): boolean => prepared(db, IS_MIRRORED).get(id) !== undefined

const IS_OWN = `select 1 from chats where id = ? and machine is null`
/** Whether a source of this machine has the chat, or once had it. */
export const isOwn = (db: Mirror, id: ChatId): boolean => prepared(db, IS_OWN).get(id) !== undefined

const IS_PULLED = `select 1 from chats where id = ? and machine is not null`
export const isPulled = (db: Mirror, id: ChatId): boolean => prepared(db, IS_PULLED).get(id) !== undefined
