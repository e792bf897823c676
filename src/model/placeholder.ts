import type { MessageId } from './ids.ts'
import type { RecordedTokens, Role } from './message.ts'

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
