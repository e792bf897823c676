import type { EvidenceWrite, ChatMetadata } from '../../../model/change.ts'
import { asChatId, type ChatId } from '../../../model/ids.ts'
import type { IssueReason } from '../../../model/issue.ts'
import type { WholeChat } from '../../open-safely/whole-store.ts'
import { weighEvidence } from '../../projects/find-root.ts'
import { decodeChatRecord, decodeHead, mostComplete, nameMessage, octetsOf } from '../records/chat.ts'
import {
  asRecord,
  filledString,
  holdsSomething,
  listIn,
  recordIn,
  wellFormed,
  type JsonRecord,
} from '../records/json.ts'
import type { ItemContent } from './decode-items.ts'
import { listComposers } from './decode-lists.ts'

const LIST = 'workspace-heads'

/**
 * `composer.composerData`: `{allComposers: […]}`, or an array. Its entries are whole chats in builds of late 2024, and
 * only heads of chats after that. Since the move to the global store in spring 2026 the list is gone, and only the open
 * tabs are left. Null if the value is neither an object nor an array.
 */
export function decodeComposers(value: unknown): Partial<ItemContent> | null {
  const entries = listComposers(value)
  if (entries === null) return null
  const found: WholeFound = { chats: [], evidence: [], issue: null }
  const metadata = new Map<ChatId, ChatMetadata>()
  for (const { entry, chatId } of entries) {
    if (entry !== null && chatId !== null) {
      if (isWhole(entry)) takeWhole(found, entry, chatId)
      else if (!metadata.has(chatId)) metadata.set(chatId, decodeHead(entry, chatId, LIST))
    } else if (holdsMessages(entry)) found.issue ??= 'bad-key'
  }
  return {
    ...found,
    chats: mostComplete(found.chats),
    metadata: [...metadata.values()],
    openTabs: decodeOpenTabs(asRecord(value)),
  }
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
