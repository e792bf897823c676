import { hash as digest } from 'node:crypto'
import type { MessageDraft } from '../../../mirror/write/batch.ts'
import { asChatId } from '../../../model/ids.ts'
import { decodeFacts } from '../records/chat/decode-facts.ts'
import { decodeMessageRecord } from '../records/message/decode-message.ts'
import { asRecord, filledStringIn } from '../records/json/json-value.ts'
import { madeId } from '../records/chat/whole-chats.ts'
import { emptyItem, type ItemContent } from './decode-composers.ts'

/**
 * What the user typed in this workspace, oldest first, without ids, times or answers: `[{text}]`, as one chat. The list
 * is capped, so its entries move up: a prompt is identified by its text and by how often the text came before it. Null
 * if the value is not an array.
 */
export function decodePrompts(value: unknown, workspaceId: string): ItemContent | null {
  if (!Array.isArray(value)) return null
  const chatId = asChatId(`prompts-${workspaceId}`)
  const timesSeen = new Map<string, number>()
  const messages: MessageDraft[] = []
  for (const entry of value as readonly unknown[]) {
    const text = filledStringIn(asRecord(entry), 'text')
    if (text === null) continue
    const words = digest('sha256', text)
    const times = timesSeen.get(words) ?? 0
    timesSeen.set(words, times + 1)
    const place = { id: madeId([chatId, words, times]), octets: 0, isEmbedded: true, toolData: undefined }
    const decoded = decodeMessageRecord({ type: 'user', text }, place)
    if (decoded.kind === 'message') messages.push(decoded.message)
  }
  if (messages.length === 0) return emptyItem
  const outline = messages.map(({ id, role }) => ({ id, role, createdAtMs: null, startedAtMs: null }))
  return { ...emptyItem, chats: [{ id: chatId, facts: decodeFacts({}, chatId, 'prompts'), outline, messages }] }
}
