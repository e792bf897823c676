import type { ChatId } from '../../model/ids.ts'
import { UserError } from '../../model/user-error.ts'
import type { Mirror } from '../../mirror/open.ts'
import { readChats } from '../queries/chats/chat-rows.ts'
import { findChatNum } from '../queries/chats/get-chat.ts'
import { walkMessages } from '../queries/messages/list-messages.ts'
import type { Chat } from '../answers/chats.ts'
import type { Message } from '../answers/messages.ts'

/** How many messages are in memory at once. */
const PAGE_MESSAGES = 50

/** A chat without data from its messages. Null if no chat has this id. */
export function findChat(db: Mirror, id: ChatId): Chat | null {
  const num = findChatNum(db, id)
  return num === null ? null : (readChats(db, [num])[0] ?? null)
}

/**
 * A thread of any length, read page by page on demand. No transaction is open between pages, so messages that are added
 * at the end meanwhile are included.
 * @throws UserError `chat-gone` if the chat is removed meanwhile, so that a part does not count as the whole
 */
export function* readThread(db: Mirror, chatId: ChatId, includeOrphans: boolean): Generator<Message> {
  for (const page of walkMessages(db, { chatId, includeOrphans, limit: PAGE_MESSAGES })) {
    if (page === null) {
      throw new UserError('chat-gone', 'The chat was removed while it was read.', 'The file is incomplete.')
    }
    yield* page
  }
}
