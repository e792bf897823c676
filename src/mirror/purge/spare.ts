import type { ChatId } from '../../model/ids.ts'
import type { Part } from '../../model/part.ts'
import {
  tellsFacts,
  type Batch,
  type ChatFacts,
  type ChatWrite,
  type HeadWrite,
  type MessageWrite,
  type OwnRow,
} from '../write/batch.ts'
import type { Mirror } from '../open.ts'
import { Tombstones } from './tombstones.ts'

/**
 * A batch without what was purged, whichever source tells of it. Its rows stay, so that they count as read: what is kept
 * of them are keys, sizes and checksums.
 */
export function withoutPurged(db: Mirror, batch: Batch): Batch {
  const tombstones = new Tombstones(db)
  if (tombstones.isEmpty) return batch
  const stands = ({ chatId }: { readonly chatId: ChatWrite['id'] }): boolean => !tombstones.hasChat(chatId)
  return {
    ...batch,
    chats: batch.chats.flatMap((chat) => spareChat(tombstones, chat) ?? []),
    evidence: batch.evidence.filter(stands),
    heads: batch.heads.filter(stands).map((head) => spareHead(tombstones, head)),
    tracked: batch.tracked.filter(stands),
    paths: batch.paths.filter(stands).map(({ chatId, uris }) => ({
      chatId,
      uris: uris.filter((uri) => !tombstones.hasText(uri, { chatId, atMs: null })),
    })),
  }
}

/** Null where nothing is left to be written. */
export function spareChat(tombstones: Tombstones, chat: ChatWrite): ChatWrite | null {
  if (tombstones.hasChat(chat.id)) return null
  const messages = chat.messages.filter(
    (message) => !tombstones.hasMessage(chat.id, message.id) && !isPurged(tombstones, chat.id, message),
  )
  const isNothing = messages.length === 0 && chat.messages.length > 0 && chat.vanished.length === 0
  if (isNothing && chat.ownRow.kind === 'unread' && chat.part?.isLast !== true) return null
  return { ...chat, messages, ownRow: spareRow(tombstones, chat.id, chat.ownRow) }
}

/** Whether any text of a message is one that was purged. */
export function isPurged(tombstones: Tombstones, chatId: ChatId, message: MessageWrite): boolean {
  if (!tombstones.comparesTexts) return false
  const atMs = message.sentAtMs ?? message.startedAtMs ?? message.timingAtMs
  return tombstones.hasTextIn(JSON.parse(message.partsJson) as readonly Part[], { chatId, atMs })
}

function spareRow(tombstones: Tombstones, chatId: ChatId, row: OwnRow): OwnRow {
  return tellsFacts(row) && tombstones.comparesTexts
    ? { ...row, facts: spareFacts(tombstones, chatId, row.facts) }
    : row
}

function spareFacts(tombstones: Tombstones, chatId: ChatId, facts: ChatFacts): ChatFacts {
  const spared = (text: string | null): string | null => spareText(tombstones, chatId, text)
  return {
    ...facts,
    name: spared(facts.name),
    summary: spared(facts.summary),
    branch: spared(facts.branch ?? null),
    todos: facts.todos.filter(({ content }) => spared(content) !== null),
  }
}

const spareHead = (tombstones: Tombstones, head: HeadWrite): HeadWrite => ({
  ...head,
  name: spareText(tombstones, head.chatId, head.name),
  branch: spareText(tombstones, head.chatId, head.branch),
})

const spareText = (tombstones: Tombstones, chatId: ChatId, text: string | null): string | null =>
  tombstones.hasText(text, { chatId, atMs: null }) ? null : text
