import { noteChanges, titleKey } from '../index/index-file.ts'
import { dropUnusedMachine, writeState } from '../hub/hub.ts'
import type { Mirror } from '../open.ts'
import { HUB } from '../sources/sources.ts'
import { asking, findingValue, listingValues, prepared, writing } from '../sql.ts'
import { chatNum } from '../write/chat-columns.ts'
import type { ChatId } from '../../model/ids.ts'

export interface GoingMessage {
  readonly key: number
  readonly chat: number
  readonly id: string
  readonly body: number
  readonly isShadowed: number
}

const DROP_BODY = `delete from bodies where num = ?`
const DROP_MESSAGE = `delete from messages where key = ?`
const isStillNamed = asking<[chat: number, id: string]>(`select 1 from messages where chat = ? and id = ? limit 1`)
const DROP_ASKS = `delete from pending_references where chat = ? and message_id = ?`
const DROP_LOSSES = `delete from losses where chat = ? and message_id = ?`

/** Removes a message: its row, its body, its row in the index, and whatever refers to it. */
export function dropMessage(db: Mirror, { key, chat, id, body, isShadowed }: GoingMessage): void {
  if (isShadowed === 0) noteChanges(db, [key], true)
  prepared(db, DROP_MESSAGE).run(BigInt(key))
  prepared(db, DROP_BODY).run(body)
  // Another source may have a row of the same message, which stays. Asks and losses go by the id.
  if (isStillNamed(db, chat, id)) return
  prepared(db, DROP_ASKS).run(chat, id)
  prepared(db, DROP_LOSSES).run(chat, id)
}

/** Rows that refer to a chat by its number. */
const BY_NUM = [
  `delete from pending_references where chat = ?`,
  `delete from losses where chat = ?`,
  `delete from outlines where chat = ?`,
  `update usage_events set chat = null where chat = ?`,
  `delete from chats where num = ?`,
]
const BY_ID = [
  `delete from chat_metadata where chat_id = ?`,
  `delete from tracked where chat_id = ?`,
  `delete from evidence where chat_id = ?`,
  `delete from chat_paths where chat_id = ?`,
  `delete from chat_links where parent_id = ?`,
]
const machineOf = findingValue<[num: number], number | null>(`select machine from chats where num = ?`)

/** Removes the row of a chat, and its machine with the last chat of it. */
function dropChat(db: Mirror, num: number): void {
  const machine = machineOf(db, num)
  noteChanges(db, [titleKey(num)], true)
  for (const sql of BY_NUM) prepared(db, sql).run(num)
  if (machine !== null) dropUnusedMachine(db, { id: machine })
}

/** With those to which they belong, after them. */
const listProjects = listingValues<[{ readonly id: ChatId }], number>(`
with recursive known (project) as (
  select project from evidence where chat_id = @id
  union select project from chats where id = @id and project is not null
  union select belongs_to from known join projects on num = project where belongs_to is not null
)
select project from known
`)
/** Removes a project that nothing refers to. */
const dropUnusedProject = writing<[{ readonly num: number }]>(`
delete from projects where num = @num
  and not exists (select 1 from evidence where project = @num)
  and not exists (select 1 from workspaces where project = @num)
  and not exists (select 1 from chats where project = @num or worktree = @num)
  and not exists (select 1 from projects where belongs_to = @num)
`)

/** Removes a chat that has no messages left, and whatever else refers to its id, whether the chat exists or not. */
export function dropWhole(db: Mirror, id: ChatId): void {
  const projects = listProjects(db, { id })
  const num = chatNum(db, id)
  if (num !== null) dropChat(db, num)
  for (const sql of BY_ID) prepared(db, sql).run(id)
  // A project that only this chat was evidence of.
  for (const project of projects) dropUnusedProject(db, { num: project })
}

/** Better than all other evidence of a pulled chat, and used for nothing else. */
export const HUB_RANK = 73

/** The root of a project that was made for pulled chats starts with this. */
export const HUB_ROOT = 'cursordex-hub:///'

const findCopy = findingValue<[chat: string], number>(`select num from chats where id = ? and machine is not null`)
const LIST_MESSAGES = `select key, chat, id, body, is_shadowed as isShadowed from messages where chat = ?`
const HUB_PROJECTS = `select project from evidence where chat_id = ? and rank = ${HUB_RANK}`
const FORGET = [
  ...['chat_metadata', 'tracked'].map(
    (table) => `delete from ${table} where chat_id = ? and source in (select num from sources where kind = '${HUB}')`,
  ),
  `delete from evidence where chat_id = ? and rank = ${HUB_RANK}`,
  `delete from chat_links where parent_id = ?`,
]

/**
 * Removes a pulled copy, in the caller's transaction. Removed content is overwritten. Does nothing if the chat is not in the
 * mirror, or is one of this machine.
 * @param kept ids of messages that come back at once. Somebody may have taken back the others: then their words go too, at
 *   the end of the pull
 */
export function dropCopy(db: Mirror, chat: string, kept: ReadonlySet<string> = new Set()): void {
  const num = findCopy(db, chat)
  if (num === null) return
  db.pragma('secure_delete = on')
  const projects = prepared<number>(db, HUB_PROJECTS).pluck().all(chat)
  const messages = prepared<GoingMessage>(db, LIST_MESSAGES).all(num)
  if (messages.some(({ id }) => !kept.has(id))) writeState(db, 'words', '1')
  for (const message of messages) dropMessage(db, message)
  for (const sql of FORGET) prepared(db, sql).run(chat)
  dropChat(db, num)
  for (const project of projects) dropUnusedProject(db, { num: project })
}
