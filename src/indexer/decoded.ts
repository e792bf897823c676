import type { ChatFacts, MessageDraft } from '../mirror/write/batch.ts'
import type { MessageId } from '../model/ids.ts'
import type { IssueReason } from '../model/issue.ts'
import type { Placeholder, Placeholders } from '../model/message.ts'
import type { Outline } from '../model/thread.ts'
import type { Evidence } from './projects/evidence.ts'

export interface DecodedIssue {
  readonly kind: 'issue'
  readonly reason: IssueReason
}

/** What a message's row contains beside the message. */
interface ReadMessage {
  readonly issue: IssueReason | null
  /** Where the chat belongs, according to the row. Left out if the row says nothing about it, as most rows do. */
  readonly evidence?: readonly Evidence[]
}

/**
 * `nothing`: a row that was read and understood but contains no message (a placeholder, bookkeeping). `placeholder` is
 * left out if the row records no tokens.
 */
export type DecodedMessage =
  | ({ readonly kind: 'message'; readonly message: MessageDraft } & ReadMessage)
  | ({ readonly kind: 'nothing'; readonly placeholder?: Placeholder } & ReadMessage)
  | DecodedIssue

export interface DecodedChatRow {
  readonly kind: 'chat'
  readonly facts: ChatFacts
  readonly outline: Outline
  /** Messages inside the chat's own row, in its order. */
  readonly embedded: readonly MessageDraft[]
  /** Entries of the chat's own row that are in the place of a message and have nothing to show. */
  readonly placeholders: Placeholders
  /** Tool data that old builds stored in the chat's row, by message. The message's decoder needs it. */
  readonly toolData: ReadonlyMap<MessageId, unknown>
  readonly evidence: readonly Evidence[]
  /** Files and folders that the chat is about, as normalised URIs. */
  readonly paths: readonly string[]
  /** True if the row names a copy of the thread as the model saw it. */
  readonly namesCopy: boolean
  readonly issue: IssueReason | null
}

export type DecodedChat = DecodedChatRow | DecodedIssue
