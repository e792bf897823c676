import type { ChatId, MessageId } from './ids.ts'

export const chatFormats = ['split', 'inline', 'map', 'tab', 'prompts', 'transcript', 'cli'] as const
export type ChatFormat = (typeof chatFormats)[number]

export const titleSources = ['cursor', 'first-message', 'none'] as const
export type TitleSource = (typeof titleSources)[number]

export const UNTITLED_CHAT = 'Untitled chat'

/** In some builds, the id of a subagent's chat is only this prefix and the id of the call that started it. */
export const CALL_CHAT_PREFIX = 'task-'

/** Data that Cursor deleted and the mirror still has. A chat that was deleted as a whole is one loss, not one per message. */
export interface Loss {
  readonly kind: 'message' | 'chat'
  readonly chatId: ChatId
  /** Null for a chat. */
  readonly messageId: MessageId | null
}
