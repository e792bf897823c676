import type { ChatId } from './ids.ts'

/** What Cursor recorded of a chat's code between two moments of one hour. It adds to a chat, and never makes one. */
export interface TrackedWrite {
  readonly chatId: ChatId
  /** Epoch milliseconds, both in the same hour. */
  readonly firstAtMs: number
  readonly lastAtMs: number
  /** By model, when it was last used; epoch milliseconds. */
  readonly models: ReadonlyMap<string, number>
}

/** A commit in which Cursor looked for code of its own. */
export interface ScoredCommit {
  readonly sha: string
  /** Lines of chats that it found, added and removed; null where it does not say. */
  readonly chatLines: number | null
}
