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
  /** Never empty: Cursor's name, else the first words of the user, else `Untitled chat`. */
  readonly title: string
  readonly titleSource: TitleSource
  readonly summary: string | null
  readonly project: ProjectRef | null
  readonly projectSource: string | null
  readonly createdAt: string | null
  readonly lastActivityAt: string | null
  readonly mode: string | null
  /** The branch of the repository on which it began. */
  readonly branch: string | null
  readonly model: string | null
  readonly models: readonly string[]
  /** Who names them: the chat's own rows, or Cursor's record of the code that it wrote. Null without a model. */
  readonly modelSource: ModelSource | null
  /** Counts are of the thread: orphans are not in them. */
  readonly messageCount: number
  readonly userMessageCount: number
  readonly toolCallCount: number
  readonly sizeBytes: number
  readonly format: ChatFormat
  readonly source: string
  /** The mirror from whose archive it came back; null where a store of Cursor's told it. */
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

/** In some builds the chat of a subagent has no id but this and that of the call which sent it out. */
export const CALL_CHAT_PREFIX = 'task-'

/** What Cursor dropped and we still hold. A chat that went whole is one loss, and not one for each of its messages. */
export interface Loss {
  readonly kind: 'message' | 'chat'
  readonly chatId: ChatId
  /** Null for a chat. */
  readonly messageId: MessageId | null
}
