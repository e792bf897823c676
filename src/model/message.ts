import type { ToolStatus } from './part.ts'
import type { MessageId } from './ids.ts'

export const roles = ['user', 'assistant'] as const
export type Role = (typeof roles)[number]

/**
 * Where a message's time comes from, best first: its own row, its entry in the chat's outline, its request timings, the
 * nearest message with a time, the chat's creation, the first code that Cursor recorded for the chat.
 */
export type TimeSource = 'message' | 'header' | 'timing' | 'neighbour' | 'chat' | 'tracking'

/** Tokens that Cursor recorded for a message. A count is null if Cursor recorded only the other one. */
export interface RecordedTokens {
  readonly input: number | null
  readonly output: number | null
}

/** Cursor writes zero for a count that it did not record. @returns null if neither was recorded */
export function recordedTokens(input: number | null, output: number | null): RecordedTokens | null {
  const tokens = { input: positive(input), output: positive(output) }
  return tokens.input === null && tokens.output === null ? null : tokens
}

const positive = (count: number | null): number | null => (count !== null && count > 0 ? count : null)

/** A row that records tokens but has nothing to show. It is not a message; its tokens count for a message near it. */
export interface Placeholder {
  readonly id: MessageId
  /** A second id under which the chat may refer to it, if the row has one. */
  readonly alias: MessageId | null
  readonly role: Role
  /** Epoch milliseconds, from the row itself. */
  readonly sentAtMs: number | null
  readonly startedAtMs: number | null
  /** Epoch milliseconds, from the request's timings. */
  readonly timingAtMs: number | null
  readonly tokens: RecordedTokens
}

/** The rows that were read and have nothing to show, by id. Null for a row that records no tokens. */
export type Placeholders = ReadonlyMap<MessageId, Placeholder | null>

/** Tokens of a message's own text, estimated. */
export interface MessageEstimate {
  /** What a model read of it, in tokens. */
  readonly input: number
  /** What a model wrote of it. */
  readonly output: number
}

/** One tool call, with the facts that statistics count. */
export interface CallFact {
  readonly tool: string
  readonly status: ToolStatus
  /** Files and folders that the call names, without duplicates. */
  readonly paths: readonly string[]
}
