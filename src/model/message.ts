import type { ChatId, MessageId } from './ids.ts'
import type { Part } from './part.ts'

export const roles = ['user', 'assistant'] as const
export type Role = (typeof roles)[number]

/**
 * Where a message's time comes from, best first: its own row, its entry in the chat's list, its request
 * timings, the nearest message with a time, the chat's creation, the first code that Cursor recorded of the chat.
 */
export type TimeSource = 'message' | 'header' | 'timing' | 'neighbour' | 'chat' | 'tracking'

/** What Cursor wrote down of a message. Null where it recorded the other alone. */
export interface RecordedTokens {
  readonly input: number | null
  readonly output: number | null
}

/** Zero is how Cursor writes what it did not record. Null where neither is recorded. */
export function recordedTokens(input: number | null, output: number | null): RecordedTokens | null {
  const tokens = { input: positive(input), output: positive(output) }
  return tokens.input === null && tokens.output === null ? null : tokens
}

const positive = (count: number | null): number | null => (count !== null && count > 0 ? count : null)

export interface Tokens extends RecordedTokens {
  readonly source: 'recorded' | 'estimated'
}

export interface Message {
  readonly id: MessageId
  readonly chatId: ChatId
  /** Index in Cursor's own order; gaps are allowed. Null for an orphan. */
  readonly position: number | null
  readonly role: Role
  readonly createdAt: string | null
  readonly createdAtSource: TimeSource | null
  readonly model: string | null
  readonly tokens: Tokens | null
  readonly parts: readonly Part[]
  /** A row that its chat no longer names. */
  readonly isOrphan: boolean
  /** Sent in the user's name by Cursor, not typed by the user. */
  readonly isSimulated: boolean
  readonly deletedInCursor: boolean
  /** Too long to be found by every word of it: a tool's input or output, or all parts of one kind. */
  readonly isIndexCapped: boolean
  /** The kind of store that it was read from, which need not be its chat's. */
  readonly source: string
}

/** A row that holds nothing to show and records tokens: it is no message, and they count on one beside it. */
export interface Placeholder {
  readonly id: MessageId
  /** Another id by which its chat may name it. */
  readonly alias: MessageId | null
  readonly role: Role
  /** Epoch milliseconds, the row's own word. */
  readonly sentAtMs: number | null
  readonly startedAtMs: number | null
  readonly timingAtMs: number | null
  readonly tokens: RecordedTokens
}

/** By id, the rows that were read and hold nothing to show; null for one that records no tokens. */
export type Placeholders = ReadonlyMap<MessageId, Placeholder | null>
