import type { Mirror } from '../open.ts'
import { type GoingMessage, dropChat, dropMessage, dropSayings } from '../purge/drop-chat.ts'
import { ARCHIVE, HUB } from '../sources/sources.ts'
import { prepared } from '../sql.ts'
import type { ChatChange } from '../../model/change.ts'
import type { ChatId, MessageId } from '../../model/ids.ts'

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

const ADD_SUPERSEDED = `insert into superseded_messages (chat_id, id) values (?, ?) on conflict do nothing`
const LIST_SUPERSEDED = `select id from superseded_messages where chat_id = ?`

/** Ids of a chat's messages that only an older decoder yielded. A restore skips them. */
export const listSuperseded = (db: Mirror, chatId: ChatId): readonly MessageId[] =>
  prepared<MessageId>(db, LIST_SUPERSEDED).pluck().all(chatId)

/** Deletes a message that only an older decoder yielded, and saves its id. */
export function dropSuperseded(db: Mirror, chatId: ChatId, message: GoingMessage): void {
  dropMessage(db, message)
  prepared(db, ADD_SUPERSEDED).run(chatId, message.id)
}

const LIST_OF_SOURCE = `
select key, chat, id, body, is_shadowed as isShadowed from messages where chat = ? and source = ?
`
const DROP_OUTLINE = `delete from outlines where chat = ? and source = ?`
const IS_LEFT = `
select 1 from messages where chat = @num union all select 1 from outlines where chat = @num limit 1
`

/** Deletes one source's rows of a chat, and the chat itself if no other source has it. @returns whether the chat was deleted */
export function dropSupersededChat(
  db: Mirror,
  { num, id, source }: { readonly num: number; readonly id: ChatId; readonly source: number },
): boolean {
  const messages = prepared<GoingMessage>(db, LIST_OF_SOURCE).all(num, source)
  for (const message of messages) dropSuperseded(db, id, message)
  prepared(db, DROP_OUTLINE).run(num, source)
  if (prepared(db, IS_LEFT).get({ num }) !== undefined) return false
  dropSayings(db, id, () => dropChat(db, num))
  return true
}

/**
 * The format of a chat whose prompts alone are left. A prompt counts only if no other chat of this machine
 * contains it.
 */
export const PROMPTS = 'prompts'

const IS_HELD_ELSEWHERE = `
select 1 from messages cross join chats on chats.num = messages.chat
where user_text = ? and chats.format <> '${PROMPTS}'
  and messages.source not in (select num from sources where kind = '${HUB}') limit 1
`

/** Whether a complete chat of this machine contains a prompt with these words. */
export const isPromptHeld = (db: Mirror, userText: number | null): boolean =>
  userText !== null && prepared(db, IS_HELD_ELSEWHERE).get(userText) !== undefined

const HAS_PROMPTS = `select 1 from chats where format = '${PROMPTS}' limit 1`
const LIST_REPEATING = `
select distinct chats.id, chats.source from messages cross join chats on chats.num = messages.chat
where user_text = ? and chats.format = '${PROMPTS}'
`

/** Collects, while a change is written, the chats of prompts whose texts the changed messages contain. */
export class RepeatedPrompts {
  readonly #db: Mirror
  readonly #hasPrompts: boolean
  readonly #chats = new Map<ChatId, number>()

  constructor(db: Mirror) {
    this.#db = db
    this.#hasPrompts = prepared(db, HAS_PROMPTS).get() !== undefined
  }

  note(userText: number | null): void {
    if (!this.#hasPrompts || userText === null) return
    const rows = prepared<{ id: ChatId; source: number }>(this.#db, LIST_REPEATING).all(userText)
    for (const { id, source } of rows) this.#chats.set(id, source)
  }

  /** Empty writes that make these chats be placed again, each with its source. */
  get writes(): { readonly source: number; readonly write: ChatChange }[] {
    return [...this.#chats].map(([id, source]) => ({
      source,
      write: { id, ownRow: { kind: 'unread' }, messages: [], vanished: [] },
    }))
  }
}
