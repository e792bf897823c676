import * as fc from 'fast-check'
import { decodeChatRow } from '../../../src/indexer/sources/records/chat.ts'
import { decodeMessageRow } from '../../../src/indexer/sources/records/message.ts'
import type { DecodedChatRow } from '../../../src/indexer/sources/records/chat.ts'
import type { MessageDraft } from '../../../src/model/change.ts'
import { asChatId, asMessageId, type MessageId } from '../../../src/model/ids.ts'
import type { Part, ToolPart } from '../../../src/model/part.ts'

export const chatId = asChatId('chat-1')
export const messageId = asMessageId('message-1')
export const makeId = (ordinal: number): MessageId => asMessageId(`made-${ordinal}`)

export const bytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

export const decodeBubble = (bubble: unknown, toolData?: unknown) =>
  decodeMessageRow(bytes(bubble), messageId, 77, toolData)

export function messageOf(bubble: unknown, toolData?: unknown): MessageDraft {
  const decoded = decodeBubble(bubble, toolData)
  if (decoded.kind !== 'message') throw new Error(`expected a message, got ${decoded.kind}`)
  return decoded.message
}

export function partsOf(bubble: unknown, toolData?: unknown): readonly Part[] {
  const decoded = decodeBubble(bubble, toolData)
  return decoded.kind === 'message' ? decoded.message.parts : []
}

export function toolOf(toolFormerData: unknown): ToolPart {
  const part = partsOf({ type: 2, toolFormerData }).find((one) => one.kind === 'tool')
  if (part === undefined) throw new Error('expected a tool part')
  return part
}

export function chatOf(composer: unknown, id: string = chatId): DecodedChatRow {
  const decoded = decodeChatRow(bytes(composer), asChatId(id), makeId)
  if (decoded.kind !== 'chat') throw new Error(`expected a chat, got ${decoded.kind}`)
  return decoded
}

/** Any JSON, with many half surrogate pairs. `JSON.stringify` writes those as escapes, and parsing brings them back. */
export const halvedJson = fc.jsonValue({
  maxDepth: 4,
  stringUnit: fc.constantFrom('a', ' ', '\ud83d', '\ude00', '/', '.'),
})

export const halfCharacter = /\\ud[89a-f]/i
