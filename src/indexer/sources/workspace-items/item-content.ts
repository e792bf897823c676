import type { EvidenceWrite, ChatMetadata } from '../../../mirror/write/batch.ts'
import type { ChatId } from '../../../model/ids.ts'
import type { IssueReason } from '../../../model/issue.ts'
import type { WholeChat } from '../../open-safely/whole-store.ts'

/** What one item of the table tells, before the workspace's root is added to it. */
export interface ItemContent {
  readonly chats: readonly WholeChat[]
  readonly heads: readonly ChatMetadata[]
  /** Chats that stood open in this workspace's window: they may belong to another one. */
  readonly openTabs: readonly ChatId[]
  /** What chats say themselves of where they belong. */
  readonly evidence: readonly EvidenceWrite[]
  /** Something in here could not be read; the rest stands. */
  readonly issue: IssueReason | null
}

export const emptyItem: ItemContent = { chats: [], heads: [], openTabs: [], evidence: [], issue: null }
