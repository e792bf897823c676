import type { MessageId } from './ids.ts'
import type { Role, TimeSource } from './message.ts'

/** One entry of the order in which Cursor shows a chat. It may name a message that no row holds, or none at all. */
export interface OutlineEntry {
  readonly id: MessageId | null
  readonly role: Role | null
  readonly createdAtMs: number | null
  readonly startedAtMs: number | null
}

/** Cursor's own order of a chat; null where it gives none, and the rows stand by time. */
export type Outline = readonly OutlineEntry[] | null

/** What the order and the times of a thread depend on, for one message. */
export interface ThreadEntry {
  readonly id: MessageId
  /** Another id by which the outline may name it. */
  readonly alias: MessageId | null
  readonly role: Role
  readonly sentAtMs: number | null
  readonly startedAtMs: number | null
  readonly timingAtMs: number | null
  /** False once the row vanished from its source. */
  readonly isLive: boolean
  /** Equal for messages of the same content. */
  readonly contentHash: string
}

export interface Placement {
  readonly id: MessageId
  readonly position: number | null
  readonly createdAtMs: number | null
  readonly createdAtSource: TimeSource | null
  readonly isOrphan: boolean
  /** An orphan whose content stands in the thread too: kept, not found. */
  readonly isShadowed: boolean
}

/** The time of a message of which nothing else tells when it was said. */
export interface ChatTime {
  readonly atMs: number
  readonly source: Extract<TimeSource, 'chat' | 'tracking'>
}
