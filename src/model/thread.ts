import type { MessageId } from './ids.ts'
import type { Role, TimeSource } from './message.ts'

/** One entry of Cursor's order of a chat. It may name a message without a row, or no message at all. */
export interface OutlineEntry {
  readonly id: MessageId | null
  readonly role: Role | null
  readonly createdAtMs: number | null
  readonly startedAtMs: number | null
}

/** Cursor's own order of a chat. If it is null, the messages are ordered by time. */
export type Outline = readonly OutlineEntry[] | null

/** The time for messages that have no better one. */
export interface ChatTime {
  readonly atMs: number
  readonly source: Extract<TimeSource, 'chat' | 'tracking'>
}
