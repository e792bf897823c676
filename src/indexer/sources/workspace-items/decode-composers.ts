import type { EvidenceWrite, ChatMetadata } from '../../../mirror/write/batch.ts'
import { asChatId, type ChatId } from '../../../model/ids.ts'
import type { IssueReason } from '../../../model/issue.ts'
import { weighEvidence } from '../../projects/evidence.ts'
import type { WholeChat } from '../../open-safely/whole-store.ts'
import { decodeChatRecord } from '../records/chat/decode-chat.ts'
import { decodeHead } from '../records/chat/decode-facts.ts'
import {
  asRecord,
  filledString,
  filledStringIn,
  holdsSomething,
  listIn,
  recordIn,
  wellFormed,
  type JsonRecord,
} from '../records/json/json-value.ts'
import { mostComplete, nameMessage, octetsOf } from '../records/chat/whole-chats.ts'

const LIST = 'workspace-heads'

/**
 * `composer.composerData`: `{allComposers: […]}`, or an array. Its entries are whole chats in builds of late 2024, and
 * only heads of chats after that. Since the move to the global store in spring 2026 the list is gone, and only the open
 * tabs are left. Null if the value is neither an object nor an array.
 */
export function decodeComposers(value: unknown): ItemContent | null {
  const data = asRecord(value)
  if (data === null && !Array.isArray(value)) return null
  const entries: readonly unknown[] = Array.isArray(value) ? value : listIn(data, 'allComposers')
  const found: WholeFound = { chats: [], evidence: [], issue: null }
  const heads = new Map<ChatId, ChatMetadata>()
  for (const entry of entries.map(asRecord)) {
    const id = filledStringIn(entry, 'composerId')
    if (entry !== null && id !== null) {
      const chatId = asChatId(id)
      if (isWhole(entry)) takeWhole(found, entry, chatId)
      else if (!heads.has(chatId)) heads.set(chatId, decodeHead(entry, chatId, LIST))
    } else if (holdsMessages(entry)) found.issue ??= 'bad-key'
  }
  return { ...found, chats: mostComplete(found.chats), heads: [...heads.values()], openTabs: decodeOpenTabs(data) }
}

/** A row that belongs in the global store but is in a workspace's. It counts as a chat only if it contains messages. */
export function decodeComposerRow(value: unknown, chatId: ChatId): ItemContent | null {
  const record = asRecord(value)
  if (record === null) return null
  const found: WholeFound = { chats: [], evidence: [], issue: null }
  if (holdsMessages(record)) takeWhole(found, record, chatId)
  return { ...emptyItem, ...found }
}

interface WholeFound {
  readonly chats: WholeChat[]
  readonly evidence: EvidenceWrite[]
  issue: IssueReason | null
}

function takeWhole(found: WholeFound, record: JsonRecord, id: ChatId): void {
  const decoded = decodeChatRecord(record, id, (at) => nameMessage(id, at))
  const { facts, outline, embedded: messages, placeholders, evidence, issue } = decoded
  // A chat without messages does not show its format; its location does.
  const format = holdsMessages(record) ? facts.format : 'inline'
  found.chats.push({ id, facts: { ...facts, format }, outline, messages, placeholders, octets: octetsOf(record) })
  found.evidence.push(...weighEvidence(id, evidence, { isOnly: true }))
  found.issue ??= issue
}

const holdsMessages = (record: JsonRecord | null): boolean =>
  listIn(record, 'conversation').length > 0 || holdsSomething(recordIn(record, 'conversationMap'))

/** An empty list of messages is also a chat, an unsent one, unless the entry says that its messages are elsewhere. */
function isWhole(entry: JsonRecord): boolean {
  const isElsewhere = entry['type'] === 'head' || holdsSomething(listIn(entry, 'fullConversationHeadersOnly'))
  return holdsMessages(entry) || (Array.isArray(entry['conversation']) && !isElsewhere)
}

function decodeOpenTabs(data: JsonRecord | null): readonly ChatId[] {
  const ids = [...listIn(data, 'selectedComposerIds'), ...listIn(data, 'lastFocusedComposerIds')]
  return [...new Set(ids.flatMap((id) => filledString(id) ?? []))].map((id) => asChatId(wellFormed(id)))
}

/** The content of one item, before the workspace's root is added. */
export interface ItemContent {
  readonly chats: readonly WholeChat[]
  readonly heads: readonly ChatMetadata[]
  /** Chats that were open in this workspace's window; they may belong to another workspace. */
  readonly openTabs: readonly ChatId[]
  /** Where chats belong according to their own records. */
  readonly evidence: readonly EvidenceWrite[]
  /** Why a part could not be read; everything else was decoded. */
  readonly issue: IssueReason | null
}

export const emptyItem: ItemContent = { chats: [], heads: [], openTabs: [], evidence: [], issue: null }
