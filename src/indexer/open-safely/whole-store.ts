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
import type { ChatsIn, KnownChats } from '../source.ts'
import type { ClosedFile } from './cursor-file.ts'

/** A whole chat, as one piece of a store contains it. */
export interface WholeChat {
  readonly id: ChatId
  readonly facts: ChatFacts
  readonly outline: Outline
  readonly messages: readonly MessageDraft[]
  /** Messages that also belong to it and stay in the mirror unchanged. */
  readonly keptIds?: readonly MessageId[]
  /** Left out if the store has none. */
  readonly placeholders?: Placeholders
  /** See `ChatWrite`. */
  readonly isByPlace?: boolean
  readonly slug?: string
  /** Its size within the piece; left out if the piece contains only this chat. */
  readonly octets?: number
}

/** A part of a store that is read as a whole: one value of a table, or one file. */
export interface Piece {
  /** Unique within its source, and the same in every pass. */
  readonly key: string
  readonly octets: number
  /** CRC-32 of its bytes; null if it could not be read. */
  readonly checksum: number | null
  readonly chats: readonly WholeChat[]
  readonly evidence: readonly EvidenceWrite[]
  readonly heads: readonly ChatMetadata[]
  /** Files of its chats, which place them if there is no other evidence. */
  readonly paths?: readonly PathsWrite[]
  /**
   * Equal as long as the piece is unchanged, and known without reading it. Left out if the store is always read whole.
   */
  readonly stamp?: number
  readonly issue: IssueReason | null
}

/** Everything that a small store contains now. A piece that is missing here is gone. */
export interface WholeContent {
  readonly pieces: readonly Piece[]
  /** Pieces that exist, were held before and were not read this time. The mirror keeps what it has of them. */
  readonly keptKeys?: ReadonlySet<string>
  readonly workspaces: readonly WorkspaceWrite[]
  /** Device and inode, or whatever else distinguishes this store from another one of the same name. */
  readonly identity: string
  /** The store's signature before it was read. */
  readonly signature: string | null
  readonly bytesRead: number
  readonly longestReadMs: number
}

/** The unknown chats with messages in a file that was read as a whole. */
export function unknownIn(
  found: { readonly kind: 'whole'; readonly content: WholeContent } | ClosedFile | { readonly kind: 'same' | 'bare' },
  known: KnownChats,
): ChatsIn {
  if (found.kind !== 'whole') return { ids: [], trouble: found.kind === 'closed' ? found : null }
  const isWanted = ({ id, messages }: WholeChat): boolean =>
    !known.hasChat(id) && messages.some((message) => !known.hasMessage(id, message.id))
  const chats = found.content.pieces.flatMap((piece) => piece.chats)
  return { ids: chats.filter(isWanted).map(({ id }) => id), trouble: null }
}

/** Gives an id to a message that has none in the store. */
export type NameMessage = (chatId: ChatId, ordinal: number) => MessageId
