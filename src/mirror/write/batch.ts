import type { ChatFormat, Loss } from '../../model/chat.ts'
import type { ChatId, MessageId } from '../../model/ids.ts'
import type { IssueReason } from '../../model/issue.ts'
import type { Json } from '../../model/json.ts'
import type { RecordedTokens, Role, Placeholders } from '../../model/message.ts'
import type { Part, TodoItem } from '../../model/part.ts'
import type { Remote } from '../../model/project.ts'
import type { Outline } from '../../model/thread.ts'
import type { ScoredCommit, TrackedWrite } from '../../model/commit.ts'
import type { CallFact } from '../digests/digest-format.ts'

/** What a message names and its own row leaves out. */
export interface Ask {
  /** `output`: what a tool call gave back. `content`: a text that the store keeps apart. */
  readonly kind: 'output' | 'content'
  /** The call's id; the SHA-256 of the content. */
  readonly name: string
  /** What the message calls the content. */
  readonly path: string | null
}

/** A message as its row tells it, before its chat gave it a place and a time. */
export interface MessageDraft {
  readonly id: MessageId
  /** Another id by which its chat may name it, where the row carries one. */
  readonly alias: MessageId | null
  readonly role: Role
  /** Epoch milliseconds, the row's own word. */
  readonly sentAtMs: number | null
  readonly startedAtMs: number | null
  /** Epoch milliseconds out of the request's timings. */
  readonly timingAtMs: number | null
  readonly model: string | null
  /** As Cursor recorded them, each null where it did not; null where it recorded neither. */
  readonly tokens: RecordedTokens | null
  /** Never empty: a row that holds nothing to show is no message. */
  readonly parts: readonly Part[]
  readonly isSimulated: boolean
  /** Bytes of the row; 0 for a message held in its chat's row. */
  readonly octets: number
  /** True where the chat's own row holds the message. */
  readonly isEmbedded: boolean
  /** Chats of subagents that its call sent out; left out where it sent none. */
  readonly childChatIds?: readonly ChatId[]
  /** What another value of the store may tell of it; left out where there is nothing to ask for. */
  readonly asks?: readonly Ask[]
  /** Given where it is not there now: an archive remembers it. */
  readonly remembered?: Remembered | null
}

/** Epoch milliseconds; null where nobody knows when, or whether, Cursor dropped it. */
export interface Remembered {
  readonly deletedAtMs: number | null
}

/** A message ready to be written: its parts as they are kept, and what follows from them. */
export interface MessageWrite extends Omit<MessageDraft, 'parts' | 'asks' | 'childChatIds'> {
  readonly asks: readonly Ask[]
  readonly childChatIds: readonly ChatId[]
  readonly partsJson: string
  readonly toolCalls: number
  readonly calls: readonly CallFact[]
  /** Equal for two messages in which the same can be found. */
  readonly contentHash: string
  readonly isIndexCapped: boolean
  /** What of its texts is compared with other sources'; see `text-key.ts`. */
  readonly textKeys: string | null
  /** JSON: what `marksOf` says of its parts. */
  readonly marks: string
  /** Equal for two prompts of the same words; null for what no user wrote. */
  readonly userText: number | null
}

/** What a chat's own row says of it. */
export interface ChatFacts {
  readonly format: ChatFormat
  readonly name: string | null
  readonly summary: string | null
  readonly todos: readonly TodoItem[]
  readonly createdAtMs: number | null
  readonly updatedAtMs: number | null
  readonly mode: string | null
  readonly model: string | null
  readonly status: string | null
  readonly isArchived: boolean
  readonly isDraft: boolean
  readonly isSubagent: boolean
  readonly parentChatId: ChatId | null
  readonly childChatIds: readonly ChatId[]
  readonly linesAdded: number | null
  readonly linesRemoved: number | null
  readonly filesChanged: number | null
  readonly contextTokens: { readonly used: number | null; readonly limit: number | null } | null
  readonly recordedCostCents: number | null
  /** The branch of the repository on which it began. */
  readonly branch?: string | null
}

/** A root folder, normalised: two spellings of one folder give one `uri`. */
export interface Root {
  readonly uri: string
  readonly path: string
  readonly name: string
  readonly remote: Remote | null
}

/**
 * What a pass learned of the chat's own row. `unread`: nothing, what is known stays. `gone`: the source holds it no
 * more; facts and order that were known stay. `remembered`: it is not there now, and this is what an archive says of it;
 * that counts until a store tells of the row.
 */
export type OwnRow =
  | { readonly kind: 'unread' }
  | { readonly kind: 'unreadable' }
  | { readonly kind: 'gone' }
  | {
      readonly kind: 'read'
      readonly facts: ChatFacts
      readonly outline: Outline
      /** Every message the row holds now; an embedded message that is not among them vanished. */
      readonly embeddedIds: ReadonlySet<MessageId>
      /** Bytes of the row. */
      readonly octets: number
      /** True where the row names a copy of the thread that is kept elsewhere. */
      readonly namesCopy?: boolean
    }
  | (Remembered & {
      readonly kind: 'remembered'
      readonly facts: ChatFacts
      readonly outline: Outline
      readonly octets: number
    })

/** Whether it says what the chat is. */
export const tellsFacts = (ownRow: OwnRow): ownRow is Extract<OwnRow, { facts: ChatFacts }> =>
  ownRow.kind === 'read' || ownRow.kind === 'remembered'

/** What a pass found out about one chat. */
export interface ChatWrite {
  readonly id: ChatId
  readonly ownRow: OwnRow
  readonly messages: readonly MessageWrite[]
  /** Messages whose rows the source holds no more. */
  readonly vanished: readonly MessageId[]
  /** Left out where none was read. */
  readonly placeholders?: Placeholders
  /** Given where a chat is told in several writes. */
  readonly part?: ChatPart
  /**
   * True where the store is as it was, and a newer decoder read it: what the source no longer yields never was a message.
   * It is removed, and is no loss.
   */
  readonly supersedes?: boolean
}

/** The chats that a chat began: those that its own row lists, and those that calls in its messages name. */
export function childrenOf({ id, ownRow, messages }: ChatWrite): ReadonlySet<ChatId> {
  const children = new Set(tellsFacts(ownRow) ? ownRow.facts.childChatIds : [])
  for (const message of messages) for (const childId of message.childChatIds) children.add(childId)
  // Nothing is its own subagent: it would stand in no list.
  children.delete(id)
  return children
}

export interface ChatPart {
  readonly isLast: boolean
  /** As its own row gives it; null where it gives none, or was not read. */
  readonly outline: Outline
}

/** A reason to think that a chat belongs to a project; the least rank decides. */
export interface EvidenceWrite {
  readonly chatId: ChatId
  readonly method: string
  readonly rank: number
  readonly root: Root
  /** True where there can be one such evidence at a time: what it said before counts no more. */
  readonly isOnly: boolean
  /** Epoch milliseconds; now where left out. Of equals the newest decides. */
  readonly notedAtMs?: number
}

/**
 * What a list of chats says of one of them. It adds to what the chat's own row says, and never makes a chat. Null where
 * the list is silent.
 */
export interface HeadWrite {
  readonly chatId: ChatId
  /** Which list, by name; a chat has at most one entry in each list of a source. */
  readonly list: string
  readonly name: string | null
  readonly createdAtMs: number | null
  readonly updatedAtMs: number | null
  readonly mode: string | null
  readonly branch: string | null
  readonly isArchived: boolean | null
  readonly isDraft: boolean | null
  readonly isSubagent: boolean | null
  readonly parentChatId: ChatId | null
  readonly linesAdded: number | null
  readonly linesRemoved: number | null
  readonly filesChanged: number | null
}

export interface PathsWrite {
  readonly chatId: ChatId
  /** Normalised URIs, as `Root.uri` is. */
  readonly uris: readonly string[]
}

export interface WorkspaceWrite {
  readonly id: string
  readonly root: Root
}

/** What was found for an ask, which is thereby settled. */
export interface AnswerWrite {
  /** The number of the ask. */
  readonly ask: number
  /** A tool's output as parsed; a content's text, null where it is none. */
  readonly value: Json
  /** Bytes of the whole where `value` is only its beginning, else null. */
  readonly cappedFrom: number | null
}

/** A blob, by its hash, that holds the output of a call. */
export interface BlobCall {
  readonly blob: string
  readonly callId: string
}

export interface RowState {
  readonly key: string
  readonly rowid: number
  readonly octets: number
  /** CRC-32 of the value: with its size it tells whether it changed. Null where there is no value, or it was not read. */
  readonly checksum: number | null
  /** The chats that the row holds, where it may hold several. */
  readonly chatIds?: readonly ChatId[]
}

export interface RowIssue {
  readonly key: string
  readonly reason: IssueReason
  readonly octets: number | null
}

/** Where a source has been read up to, and how to notice that its past was changed. */
export interface Position {
  /** Which file was read: device and inode. */
  readonly identity: string
  /** The file's state as of this position; null while more is known to be unread. */
  readonly signature: string | null
  readonly watermark: number | null
  /** Key of the row at the watermark. */
  readonly watermarkKey: string | null
}

/** All that one transaction writes. */
export interface Batch {
  readonly source: number
  readonly nowMs: number
  readonly rows: readonly RowState[]
  readonly goneKeys: readonly string[]
  /** Rows of which nothing is told any more, and that hold no chat: nothing of them stays. */
  readonly droppedKeys: readonly string[]
  /** Reading a row again clears its issue, unless it is named here. */
  readonly issues: readonly RowIssue[]
  readonly chats: readonly ChatWrite[]
  readonly evidence: readonly EvidenceWrite[]
  readonly workspaces: readonly WorkspaceWrite[]
  readonly heads: readonly HeadWrite[]
  readonly tracked: readonly TrackedWrite[]
  readonly scoredCommits: readonly ScoredCommit[]
  /** Files that a chat is about; they tell where it belongs where nothing better does. */
  readonly paths: readonly PathsWrite[]
  readonly answers: readonly AnswerWrite[]
  readonly blobCalls: readonly BlobCall[]
  readonly position: Position | null
  /** True where the messages' full-text rows are left to `indexBacklog`: they can be read at once, and found later. */
  readonly isIndexedLater: boolean
  /** True where the terms of full-text rows that are written join the list of terms later, by `listSome`. */
  readonly isListedLater: boolean
}

export const emptyBatch = {
  rows: [],
  goneKeys: [],
  droppedKeys: [],
  issues: [],
  chats: [],
  evidence: [],
  workspaces: [],
  heads: [],
  tracked: [],
  scoredCommits: [],
  paths: [],
  answers: [],
  blobCalls: [],
  position: null,
  isIndexedLater: false,
  isListedLater: false,
}

export interface BatchOutcome {
  readonly added: number
  readonly changed: number
  readonly gone: number
  readonly chatIds: readonly ChatId[]
  readonly messages: readonly { readonly id: MessageId; readonly chatId: ChatId }[]
  /** What the ledger of losses did not tell before. */
  readonly losses: readonly Loss[]
}
