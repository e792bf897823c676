import type { Chat } from '../../model/chat.ts'
import type { Message } from '../../model/message.ts'
import type { ExportStamp } from './stamp.ts'

/** One object; chat and messages as the API gives them, each message on a line of its own. */
export function* toJson(chat: Chat, messages: Iterable<Message>, stamp: ExportStamp): Generator<string> {
  const { version, exportedAt } = stamp
  const head = [`"version":${JSON.stringify(version)}`, `"exportedAt":${JSON.stringify(exportedAt)}`]
  yield `{${head.join(',')},\n"chat":${JSON.stringify(chat)},\n"messages":[`
  let separator = '\n'
  for (const message of messages) {
    yield `${separator}${JSON.stringify(message)}`
    separator = ',\n'
  }
  yield stamp.masked === undefined ? '\n]}\n' : `\n],\n"masked":${JSON.stringify(stamp.masked())}}\n`
}
