import type { ChatId } from '../../model/ids.ts'
import { tellsFacts, type Batch, type ChatFacts, type ChatWrite } from '../write/batch.ts'
import type { Mirror } from '../open.ts'
import { parseParts } from '../parse-parts.ts'
import { Bars } from './bars.ts'

/**
 * A batch without what was purged, whichever source it comes from. The source's rows stay, so that they count as read:
 * only their keys, sizes and checksums are stored.
 */
export function withoutPurged(db: Mirror, batch: Batch): Batch {
  const bars = new Bars(db)
  if (bars.isEmpty) return batch
  const stays = ({ chatId }: { readonly chatId: ChatId }): boolean => !bars.hasChat(chatId)
  const spared = (chatId: ChatId, text: string | null): string | null => (bars.hasText(chatId, text) ? null : text)
  return {
    ...batch,
    chats: batch.chats.flatMap((chat) => spareChat(bars, chat) ?? []),
    evidence: batch.evidence.filter(stays),
    heads: batch.heads
      .filter(stays)
      .map((head) => ({ ...head, name: spared(head.chatId, head.name), branch: spared(head.chatId, head.branch) })),
    tracked: batch.tracked.filter(stays),
    paths: batch.paths
      .filter(stays)
      .map(({ chatId, uris }) => ({ chatId, uris: uris.filter((uri) => !bars.hasText(chatId, uri)) })),
  }
}

/** Null if nothing is left to write. */
function spareChat(bars: Bars, chat: ChatWrite): ChatWrite | null {
  if (bars.hasChat(chat.id)) return null
  const messages = chat.messages.filter(
    ({ id, partsJson }) => !bars.hasMessage(chat.id, id, () => parseParts(partsJson)),
  )
  const isNothing = messages.length === 0 && chat.messages.length > 0 && chat.vanished.length === 0
  if (isNothing && chat.ownRow.kind === 'unread') return null
  const { ownRow } = chat
  if (!tellsFacts(ownRow)) return { ...chat, messages }
  return { ...chat, messages, ownRow: { ...ownRow, facts: spareFacts(bars, chat.id, ownRow.facts) } }
}

function spareFacts(bars: Bars, chatId: ChatId, facts: ChatFacts): ChatFacts {
  const spared = (text: string | null): string | null => (bars.hasText(chatId, text) ? null : text)
  return {
    ...facts,
    name: spared(facts.name),
    summary: spared(facts.summary),
    branch: spared(facts.branch ?? null),
    todos: facts.todos.filter(({ content }) => !bars.hasText(chatId, content)),
  }
}
