import type { ChatFormat, Loss } from './chat.ts'
import type { ChatId, MessageId } from './ids.ts'
import type { IssueReason } from './issue.ts'
import type { Json } from './json.ts'
import type { CallFact, MessageEstimate, Placeholder, Placeholders, RecordedTokens } from './message.ts'
import type { Part, TodoItem } from './part.ts'
import type { Remote } from './project.ts'
import type { Outline } from './thread.ts'
import type { ScoredCommit, TrackedWrite } from './commit.ts'

/** A pending reference: content that a message names, but that its row does not contain. */
export interface PendingReference {
  /** `output`: the result of a tool call. `content`: a text that the store keeps in another value. */
  readonly kind: 'output' | 'content'
  /** The call's id, or a file that a call without an id reads; or the SHA-256 of the content. */
  readonly name: string
  /** The message's name for the content. */
  readonly path: string | null
}

/** A message as decoded from its row, before it gets a place and a time in its chat. */
export interface MessageDraft extends Omit<Placeholder, 'tokens'> {
  readonly model: string | null
  /** As Cursor recorded them. A count that was not recorded is null; the whole is null if neither was. */
  readonly tokens: RecordedTokens | null
  /** Cursor's id of the request; omitted if it is unknown, or no tokens are recorded. */
  readonly requestId?: string | null
  /** Never empty: a row with nothing to show is not a message. */
  readonly parts: readonly Part[]
  readonly isSimulated: boolean
  /** Bytes of the row; 0 for a message inside its chat's row. */
  readonly octets: number
  /** True if the message is inside the chat's own row. */
  readonly isEmbedded: boolean
  /** Chats of subagents that its calls started; omitted if there are none. */
  readonly childChatIds?: readonly ChatId[]
  /** Pending references: content in other values of the store; omitted if there are none. */
  readonly references?: readonly PendingReference[]
  /** Set if the message comes from an archive and is not in a store now. */
  readonly remembered?: Remembered | null
}

/** `deletedAtMs`: epoch milliseconds; null if it is unknown when, or whether, Cursor deleted it. */
export interface Remembered {
  readonly deletedAtMs: number | null
}

/** A message ready to be written: its parts in stored form, and the columns derived from them. */
export interface MessageWrite extends Omit<MessageDraft, 'parts' | 'references' | 'childChatIds'> {
  readonly references: readonly PendingReference[]
  readonly childChatIds: readonly ChatId[]
  readonly partsJson: string
  readonly estimate: MessageEstimate
  readonly calls: readonly CallFact[]
  /** Equal for two messages with the same searchable content. */
  readonly contentHash: string
  readonly isIndexCapped: boolean
  /** Hashes of its texts, to compare with other sources; see `text-key.ts`. */
  readonly textKeys: string | null
  /** JSON: the result of `marksOf` for its parts. */
  readonly marks: string
  /** Equal for two prompts with the same words; null if the message is not the user's. */
  readonly userText: number | null
}

/** A kind of thing in the model's context, and how many tokens Cursor estimates for it. */
export interface ContextItem {
  readonly name: string
  readonly tokens: number
}

/** The facts in a chat's own row. */
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
  readonly contextTokens: {
    readonly used: number | null
    readonly limit: number | null
    /** Left out if it is not known. */
    readonly items?: readonly ContextItem[]
  } | null
  readonly recordedCostCents: number | null
  /** The git branch on which the chat began. */
  readonly branch?: string | null
  /** Beginnings of its messages, one a line, as its list of messages has them; null or left out if that has none. */
  readonly preview?: string | null
}

/** A root folder, normalised: all spellings of a folder have the same `uri`. */
export interface Root {
  readonly uri: string
  readonly path: string
  readonly name: string
  readonly remote: Remote | null
  /** The repository of which it is a linked working tree of git; left out if it names none. */
  readonly worktreeOf?: Root
}

/**
 * What a pass learned of the chat's own row. `unread`: nothing; known facts stay. `gone`: the source no longer has the row;
 * known facts and order stay. `forgotten`: nor did it have any message of the chat, until now; known facts and order stay,
 * and the chat lives as one that never had the row. `remembered`: the row is not in a store now, and an archive has these facts; they count
 * until a store reports the row.
 */
export type OwnRow =
  | { readonly kind: 'unread' }
  | { readonly kind: 'unreadable' }
  | { readonly kind: 'gone' }
  | { readonly kind: 'forgotten' }
  | {
      readonly kind: 'read'
      readonly facts: ChatFacts
      readonly outline: Outline
      /** All messages that the row contains now. Other embedded messages of the chat have vanished. */
      readonly embeddedIds: ReadonlySet<MessageId>
      /** Bytes of the row. */
      readonly octets: number
      /** True if the row refers to a copy of the thread in another value. */
      readonly namesCopy?: boolean
    }
  | (Remembered & {
      readonly kind: 'remembered'
      readonly facts: ChatFacts
      readonly outline: Outline
      readonly octets: number
    })

/** Whether the row's facts are known. */
export const tellsFacts = (ownRow: OwnRow): ownRow is Extract<OwnRow, { facts: ChatFacts }> =>
  ownRow.kind === 'read' || ownRow.kind === 'remembered'

/** What a pass found out about one chat. */
export interface ChatChange {
  readonly id: ChatId
  readonly ownRow: OwnRow
  readonly messages: readonly MessageWrite[]
  /** Messages whose rows are gone from the source. */
  readonly vanished: readonly MessageId[]
  /** Omitted if none was read. */
  readonly placeholders?: Placeholders
  /** True if more messages of the chat are being read: all of them are placed together with the last ones. */
  readonly hasMore?: boolean
  /**
   * True if the store is unchanged and a newer decoder read it. Messages that the source no longer yields never were
   * messages: they are removed and do not count as losses.
   */
  readonly supersedes?: boolean
  /** True if the ids of its messages are made of their places. If other words take a place, the former ones are kept. */
  readonly isByPlace?: boolean
  /** Cursor's name of the project's folder, if it is not known which folder that is. */
  readonly slug?: string
}

/** The subagent chats of a chat: those listed in its own row, and those named by calls in its messages. */
export function childrenOf({ id, ownRow, messages }: ChatChange): ReadonlySet<ChatId> {
  const children = new Set(tellsFacts(ownRow) ? ownRow.facts.childChatIds : [])
  for (const message of messages) for (const childId of message.childChatIds) children.add(childId)
  // A chat cannot be its own subagent: no list would show it.
  children.delete(id)
  return children
}

/** Evidence that a chat belongs to a project. The lowest rank decides. */
export interface EvidenceWrite {
  readonly chatId: ChatId
  readonly method: string
  readonly rank: number
  readonly root: Root
  /** True if a chat has only one such evidence at a time: it replaces the former one. */
  readonly isOnly: boolean
  /** Epoch milliseconds; the current time if omitted. Of equal ranks the newest decides. */
  readonly notedAtMs?: number
}

/**
 * Metadata of a chat from a list of chats. It completes the facts of the chat's own row and never creates a chat. Values
 * that the list does not contain are null.
 */
export interface ChatMetadata {
  readonly chatId: ChatId
  /** Name of the list. A chat has at most one entry in each list of a source. */
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
  /** Normalised URIs, like `Root.uri`. */
  readonly uris: readonly string[]
}

export interface WorkspaceWrite {
  readonly id: string
  readonly root: Root
}

/** The content that was found for a pending reference, which is then resolved. */
export interface AnswerWrite {
  /** The number of the pending reference. */
  readonly ask: number
  /** A tool's parsed output, or the text of a content; null if the content is not text. */
  readonly value: Json
  /** Bytes of the whole value if `value` is only its beginning, else null. */
  readonly cappedFrom: number | null
}

/** A blob, named by its hash, with the output of a call. */
export interface BlobCall {
  readonly blob: string
  readonly callId: string
}

export interface RowState {
  readonly key: string
  readonly rowid: number
  readonly octets: number
  /** CRC-32 of the value. Together with the size it shows changes. Null if there is no value, or it was not read. */
  readonly checksum: number | null
  /** The chats in the row, for rows that can contain several. */
  readonly chatIds?: readonly ChatId[]
}

export interface RowIssue {
  readonly key: string
  readonly reason: IssueReason
  readonly octets: number | null
}

/** How far a source was read, and how to detect that older rows changed. */
export interface Position {
  /** The file that was read, as device and inode. */
  readonly identity: string
  /** State of the file at this position; null while unread rows are known. */
  readonly signature: string | null
  readonly watermark: number | null
  /** Key of the row at the watermark. */
  readonly watermarkKey: string | null
}

/** Everything that one transaction writes. */
export interface Change {
  readonly source: number
  readonly nowMs: number
  readonly rows: readonly RowState[]
  readonly goneKeys: readonly string[]
  /** Rows without a chat that are of no interest any more. They are deleted. */
  readonly droppedKeys: readonly string[]
  /** Reading a row again clears its former issue, unless it is listed here. */
  readonly issues: readonly RowIssue[]
  readonly chats: readonly ChatChange[]
  readonly evidence: readonly EvidenceWrite[]
  readonly workspaces: readonly WorkspaceWrite[]
  readonly metadata: readonly ChatMetadata[]
  readonly tracked: readonly TrackedWrite[]
  readonly scoredCommits: readonly ScoredCommit[]
  /** Files that a chat works on. They decide its project if there is no better evidence. */
  readonly paths: readonly PathsWrite[]
  readonly answers: readonly AnswerWrite[]
  readonly blobCalls: readonly BlobCall[]
  readonly position: Position | null
  /** False if very many messages are written: the index takes urgent ones first. */
  readonly isUrgent: boolean
}

export const emptyChange = {
  rows: [],
  goneKeys: [],
  droppedKeys: [],
  issues: [],
  chats: [],
  evidence: [],
  workspaces: [],
  metadata: [],
  tracked: [],
  scoredCommits: [],
  paths: [],
  answers: [],
  blobCalls: [],
  position: null,
  isUrgent: true,
}

export interface Written {
  readonly added: number
  readonly changed: number
  readonly gone: number
  readonly chatIds: readonly ChatId[]
  readonly messages: readonly { readonly id: MessageId; readonly chatId: ChatId }[]
  /** New entries in the ledger of losses. */
  readonly losses: readonly Loss[]
}
