import type { ChatId, MessageId } from './ids.ts'
import type { ProjectRef } from './project.ts'

export const chatFormats = ['split', 'inline', 'map', 'tab', 'prompts', 'transcript', 'cli'] as const
export type ChatFormat = (typeof chatFormats)[number]

export const titleSources = ['cursor', 'first-message', 'none'] as const
export type TitleSource = (typeof titleSources)[number]

export type ModelSource = 'cursor' | 'tracking'

export interface ContextTokens {
  readonly used: number | null
  readonly limit: number | null
}

export interface Chat {
  readonly id: ChatId
  /** Never empty: Cursor's name, else the user's first words, else `Untitled chat`. */
  readonly title: string
  readonly titleSource: TitleSource
  readonly summary: string | null
  readonly project: ProjectRef | null
  readonly projectSource: string | null
  readonly createdAt: string | null
  readonly lastActivityAt: string | null
  readonly mode: string | null
  /** The git branch on which the chat began. */
  readonly branch: string | null
  readonly model: string | null
  readonly models: readonly string[]
  /** Origin of the models: the chat's own rows, or Cursor's record of generated code. Null without a model. */
  readonly modelSource: ModelSource | null
  /** The counts cover the thread, without orphans. */
  readonly messageCount: number
  readonly userMessageCount: number
  readonly toolCallCount: number
  readonly sizeBytes: number
  readonly format: ChatFormat
  readonly source: string
  /** The mirror from whose archive it was restored; null if it comes from a store of Cursor's. */
  readonly origin: string | null
  readonly status: string | null
  readonly isArchived: boolean
  readonly isSubagent: boolean
  readonly parentChatId: ChatId | null
  readonly childChatIds: readonly ChatId[]
  readonly deletedInCursor: boolean
  readonly deletedAt: string | null
  readonly linesAdded: number | null
  readonly linesRemoved: number | null
  readonly filesChanged: number | null
  readonly contextTokens: ContextTokens | null
  readonly recordedCostCents: number | null
}

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
