import { hash as digest } from 'node:crypto'
import type { EvidenceWrite, HeadWrite } from '../../../mirror/batch.ts'
import { asMessageId, type ChatId, type MessageId } from '../../../model/ids.ts'
import type { IssueReason } from '../../../model/issue.ts'
import type { NameMessage, WholeChat } from '../../whole-store.ts'
import { boundJson } from '../records/bound-json.ts'
import type { JsonRecord } from '../records/json-value.ts'

/** What one item of the table tells, before the workspace's root is added to it. */
export interface ItemContent {
  readonly chats: readonly WholeChat[]
  readonly heads: readonly HeadWrite[]
  /** Chats that stood open in this workspace's window: they may belong to another one. */
  readonly openTabs: readonly ChatId[]
  /** What chats say themselves of where they belong. */
  readonly evidence: readonly EvidenceWrite[]
  /** Something in here could not be read; the rest stands. */
  readonly issue: IssueReason | null
}

export const emptyItem: ItemContent = { chats: [], heads: [], openTabs: [], evidence: [], issue: null }

/** Not by the store: where two workspaces hold the same chat, its messages are the same ones. */
export const nameMessage: NameMessage = (chatId, ordinal) => madeId([chatId, ordinal])

export const madeId = (whatTellsItApart: readonly (string | number)[]): MessageId =>
  asMessageId(`made-${digest('sha256', JSON.stringify(whatTellsItApart)).slice(0, 32)}`)

/**
 * What one entry takes of an item that holds many: Cursor writes them as `JSON.stringify` does. One too deep for that is
 * told as nothing.
 */
export const octetsOf = (entry: JsonRecord): number =>
  boundJson(entry).isTooDeep ? 0 : Buffer.byteLength(JSON.stringify(entry))

/** A list that names a chat twice is taken by its fuller word. */
export function fullest(chats: readonly WholeChat[]): readonly WholeChat[] {
  const byId = new Map<ChatId, WholeChat>()
  for (const chat of chats) {
    const before = byId.get(chat.id)
    if (before === undefined || before.messages.length < chat.messages.length) byId.set(chat.id, chat)
  }
  return [...byId.values()]
}
