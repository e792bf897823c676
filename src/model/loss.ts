import type { ChatId, MessageId } from './ids.ts'

/** What Cursor dropped and we still hold. A chat that went whole is one loss, and not one for each of its messages. */
export interface Loss {
  readonly kind: 'message' | 'chat'
  readonly chatId: ChatId
  /** Null for a chat. */
  readonly messageId: MessageId | null
}
