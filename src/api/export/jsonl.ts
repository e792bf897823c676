import type { Chat } from '../../model/chat.ts'
import type { Message } from '../../model/message.ts'
import type { ExportStamp } from './stamp.ts'

/** A line for the chat, told from the others by its `kind`, then a line for each message as the API gives it. */
export function* toJsonl(chat: Chat, messages: Iterable<Message>, stamp: ExportStamp): Generator<string> {
  const { version, exportedAt } = stamp
  yield `${JSON.stringify({ kind: 'chat', version, exportedAt, ...chat })}\n`
  for (const message of messages) yield `${JSON.stringify(message)}\n`
  if (stamp.masked !== undefined) yield `${JSON.stringify({ kind: 'masked', masked: stamp.masked() })}\n`
}
