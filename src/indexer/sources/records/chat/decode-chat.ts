import type { ChatFormat } from '../../../../model/chat.ts'
import { asMessageId, type ChatId, type MessageId } from '../../../../model/ids.ts'
import type { DecodedChat, DecodedChatRow } from '../../../decoded.ts'
import { decodeEmbedded, readConversation, readConversationMap, type MakeId } from './decode-embedded.ts'
import { decodeEvidence } from './decode-evidence.ts'
import { decodeFacts } from './decode-facts.ts'
import { decodeHeaders, outlineOf } from './decode-outline.ts'
import { decodePaths } from './decode-paths.ts'
import { readStateText } from '../state/conversation-state.ts'
import {
  asRecord,
  holdsSomething,
  listIn,
  parsedRecord,
  recordIn,
  wellFormed,
  type JsonRecord,
} from '../json/json-value.ts'
import { parseRow } from '../json/exact-json.ts'

/**
 * Decodes the value of a `composerData:` row. Total: any bytes become a chat or an issue. `makeId` gives an id to an
 * embedded message that has none, from its ordinal in the row.
 */
export function decodeChatRow(value: string | Buffer, chatId: ChatId, makeId: MakeId): DecodedChat {
  const row = parseRow(value)
  return row.kind === 'issue' ? row : decodeChatRecord(row.record, chatId, makeId)
}

/** Decodes a chat's object, from whichever place. */
export function decodeChatRecord(chat: JsonRecord, chatId: ChatId, makeId: MakeId): DecodedChatRow {
  const conversation = readConversation(chat, makeId)
  const mapped = readConversationMap(chat, conversation, makeId)
  const headers = decodeHeaders(chat)
  const toolData = readToolData(chat)
  const embedded = decodeEmbedded([...conversation, ...mapped], toolData)
  return {
    kind: 'chat',
    facts: decodeFacts(chat, chatId, readFormat(chat, headers !== null)),
    outline: headers ?? outlineOf(conversation),
    embedded: embedded.messages,
    placeholders: embedded.placeholders,
    toolData,
    evidence: decodeEvidence(chat),
    paths: decodePaths(chat),
    namesCopy: readStateText(chat) !== null,
    issue: embedded.issue,
  }
}

/** Decided by the content: the version number does not tell, and one file can contain all formats. */
function readFormat(chat: JsonRecord, hasHeaders: boolean): ChatFormat {
  if (!hasHeaders && listIn(chat, 'conversation').some((element) => asRecord(element) !== null)) return 'inline'
  return holdsSomething(recordIn(chat, 'conversationMap')) ? 'map' : 'split'
}

/** The capability that ran tools, in builds that stored tool calls in the chat's row. */
const toolCapability = 15

function readToolData(chat: JsonRecord): ReadonlyMap<MessageId, unknown> {
  const byMessage = new Map<MessageId, unknown>()
  for (const element of listIn(chat, 'capabilities')) {
    const capability = asRecord(element)
    if (capability?.['type'] !== toolCapability) continue
    const calls = parsedRecord(recordIn(capability, 'data')?.['bubbleDataMap'])
    for (const [id, data] of Object.entries(calls ?? {})) byMessage.set(asMessageId(wellFormed(id)), data)
  }
  return byMessage
}
