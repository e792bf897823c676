import type {
  ChatFacts,
  EvidenceWrite,
  ChatMetadata,
  MessageDraft,
  PathsWrite,
  WorkspaceWrite,
} from '../../mirror/write/batch.ts'
import type { ChatId, MessageId } from '../../model/ids.ts'
import type { IssueReason } from '../../model/issue.ts'
import type { Placeholders } from '../../model/message.ts'
import type { Outline } from '../../model/thread.ts'

/** A chat as one piece of a store holds it, whole. */
export interface WholeChat {
  readonly id: ChatId
  readonly facts: ChatFacts
  readonly outline: Outline
  readonly messages: readonly MessageDraft[]
  /** Messages that it holds as well, and that stay as the mirror has them. */
  readonly keptIds?: readonly MessageId[]
  /** Left out where the store has none. */
  readonly placeholders?: Placeholders
  /** What it takes of its piece; left out where the piece is this chat's alone. */
  readonly octets?: number
}

/** A part of a store that is read as a whole: one value of a table, or one file. */
export interface Piece {
  /** Unique within its source, and the same at every pass. */
  readonly key: string
  readonly octets: number
  /** CRC-32 of its bytes; null where it could not be read. */
  readonly checksum: number | null
  readonly chats: readonly WholeChat[]
  readonly evidence: readonly EvidenceWrite[]
  readonly heads: readonly ChatMetadata[]
  /** Where its chats belong failing all else. */
  readonly paths?: readonly PathsWrite[]
  /**
   * Equal as long as the piece was not touched, and known without reading it; left out where a store is read whole every
   * time.
   */
  readonly stamp?: number
  readonly issue: IssueReason | null
}

/** All that a small store holds now: a piece that is missing here is gone. */
export interface WholeContent {
  readonly pieces: readonly Piece[]
  /** Pieces that are there, were held before and were not read this time: what is held of them stays. */
  readonly keptKeys?: ReadonlySet<string>
  readonly workspaces: readonly WorkspaceWrite[]
  /** Device and inode, or whatever else tells this store from another of its name. */
  readonly identity: string
  /** The store's state before it was read. */
  readonly signature: string | null
  readonly bytesRead: number
  readonly longestReadMs: number
}

/** Where a store gives a message no id of its own. */
export type NameMessage = (chatId: ChatId, ordinal: number) => MessageId
