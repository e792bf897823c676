import type { ChatFacts, MessageDraft } from '../mirror/write/batch.ts'
import type { MessageId } from '../model/ids.ts'
import type { IssueReason } from '../model/issue.ts'
import type { Placeholder, Placeholders } from '../model/message.ts'
import type { Outline } from '../model/thread.ts'

/**
 * How an adapter came to know where a chat belongs. Best first; the first that names a root decides. Of the chats of the
 * command line, the last two, hardly anything else speaks.
 */
export const evidenceMethods = [
  'header-table',
  'workspace-identifier',
  'header-list',
  'workspace-heads',
  'open-tab',
  'agent-project',
  'transcript-folder',
  'git-repo',
  'workspace-uris',
  'request-context',
  'cli-folder',
  'cli-workspace',
] as const
export type EvidenceMethod = (typeof evidenceMethods)[number]

export interface Evidence {
  readonly method: EvidenceMethod
  /** Root URI as the source writes it. */
  readonly uri: string
}

export interface DecodedIssue {
  readonly kind: 'issue'
  readonly reason: IssueReason
}

/** What a message's row holds beside the message. */
interface ReadMessage {
  readonly issue: IssueReason | null
  /** What it says of where its chat belongs; left out where it says nothing, as most rows do. */
  readonly evidence?: readonly Evidence[]
}

/**
 * `nothing`: a row that is read and understood, and holds no message (a placeholder, bookkeeping); `placeholder` is left
 * out where it records no tokens.
 */
export type DecodedMessage =
  | ({ readonly kind: 'message'; readonly message: MessageDraft } & ReadMessage)
  | ({ readonly kind: 'nothing'; readonly placeholder?: Placeholder } & ReadMessage)
  | DecodedIssue

export interface DecodedChatRow {
  readonly kind: 'chat'
  readonly facts: ChatFacts
  readonly outline: Outline
  /** Messages that the chat's own row holds, in its order. */
  readonly embedded: readonly MessageDraft[]
  /** What it holds in the place of messages that have nothing to show. */
  readonly placeholders: Placeholders
  /** Tool data that old builds kept in the chat's row, by message; to be handed to the message's decoder. */
  readonly toolData: ReadonlyMap<MessageId, unknown>
  readonly evidence: readonly Evidence[]
  /** Files and folders that the chat is about, as normalised URIs. */
  readonly paths: readonly string[]
  /** True where the row names a copy of the thread, as the model saw it. */
  readonly namesCopy: boolean
  readonly issue: IssueReason | null
}

export type DecodedChat = DecodedChatRow | DecodedIssue
