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

/** The facts of one message that decide its place and time in the thread. */
export interface ThreadEntry {
  readonly id: MessageId
  /** A second id under which the outline may refer to it. */
  readonly alias: MessageId | null
  readonly role: Role
  readonly sentAtMs: number | null
  readonly startedAtMs: number | null
  readonly timingAtMs: number | null
  /** False if the row has vanished from its source. */
  readonly isLive: boolean
  /** Equal for messages with the same content. */
  readonly contentHash: string
}

export interface Placement {
  readonly id: MessageId
  readonly position: number | null
  readonly createdAtMs: number | null
  readonly createdAtSource: TimeSource | null
  readonly isOrphan: boolean
  /** True for an orphan with the same content as a message of the thread. It is stored but not indexed. */
  readonly isShadowed: boolean
}

/** The time for messages that have no better one. */
export interface ChatTime {
  readonly atMs: number
  readonly source: Extract<TimeSource, 'chat' | 'tracking'>
}
