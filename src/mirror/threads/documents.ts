import type { ChatId, MessageId } from '../../model/ids.ts'
import { asMessageId } from '../../model/ids.ts'
import type { Outline } from '../../model/thread.ts'
import type { Mirror } from '../open.ts'
import { prepared } from '../sql.ts'
import type { NextMessage } from '../write/messages.ts'

/** Ids of Cursor's own messages do not begin like this. */
const PREFIX = 'plan-'

/** @param name of the plan's file, which stays the same when the plan changes */
export const documentId = (name: string): MessageId => asMessageId(`${PREFIX}${name}`)

/**
 * A document is a file that belongs to a chat, such as a plan, and is a message of it. Its second id names the message that it
 * follows. It does not tell whether Cursor still has the chat.
 */
export const isDocument = ({ id }: { readonly id: string }): boolean => id.startsWith(PREFIX)

/** SQL: whether a message is a document. */
export const IS_DOCUMENT = `messages.id glob '${PREFIX}*'`

/** The order with all documents, each after the message that it follows, or at the end if that is unknown. */
export function withDocuments(outline: Outline, messages: readonly NextMessage[]): Outline {
  const all = messages.flatMap(({ columns }) => (isDocument(columns) ? columns : []))
  // Most chats have none.
  if (outline === null || all.length === 0) return outline
  const named = new Set(outline.map(({ id }) => id))
  // An archive may have the same one.
  const unnamed = new Map(all.flatMap((document) => (named.has(document.id) ? [] : [[document.id, document]])))
  const documents = [...unnamed.values()].toSorted((one, other) => (one.id < other.id ? -1 : 1))
  const entryOf = ({ id, role }: (typeof documents)[number]) => ({ id, role, createdAtMs: null, startedAtMs: null })
  const follow = (id: MessageId | null) => documents.filter(({ alias }) => alias !== null && alias === id).map(entryOf)
  const rest = documents.filter(({ alias }) => alias === null || !named.has(alias)).map(entryOf)
  return [...outline.flatMap((entry) => [entry, ...follow(entry.id)]), ...rest]
}

/** A message with a call that wrote a plan. */
export interface Planner {
  readonly chatId: ChatId
  readonly id: MessageId
  /** All its parts, as JSON. */
  readonly parts: string
}

const LIST_TOOLS = `select name from names where kind = 'tool' and replace(lower(name), '_', '') = 'createplan'`
const LIST_PLANNERS = `
select chats.id as chatId, messages.id, bodies.parts from calls
cross join messages on messages.body = calls.body and messages.is_orphan = 0 and messages.tool_calls > 0
cross join chats on chats.num = messages.chat and chats.machine is null
cross join bodies on bodies.num = messages.body
where calls.tool in (select value from json_each(?)) and calls.file = 0
order by chats.id, messages.position, messages.id
`

/** All messages of this machine's chats that wrote plans, in order of their chats. */
export function listPlanners(db: Mirror): readonly Planner[] {
  const tools = prepared<string>(db, LIST_TOOLS).pluck().all()
  return tools.length === 0 ? [] : prepared<Planner>(db, LIST_PLANNERS).all(JSON.stringify(tools))
}
