import { asMessageId, type MessageId } from '../../../../model/ids.ts'
import type { Role } from '../../../../model/message.ts'
import type { Outline, OutlineEntry } from '../../../../model/thread.ts'
import type { EmbeddedBody } from './decode-embedded.ts'
import { asRecord, listIn, stringIn, type JsonRecord } from '../json/json-value.ts'
import { readRole } from '../message/decode-message.ts'
import { readTime } from '../json/read-time.ts'

/**
 * The order from the chat's list of headers. Null if no entry has anything to find a message by. An entry without an id
 * or a time keeps its place, and no message takes it.
 */
export function decodeHeaders(chat: JsonRecord): Outline {
  const entries = listIn(chat, 'fullConversationHeadersOnly').map((header) => decodeHeader(asRecord(header)))
  const canBeFound = entries.some(
    ({ id, createdAtMs, startedAtMs }) => (id ?? '') !== '' || (createdAtMs ?? startedAtMs) !== null,
  )
  return canBeFound ? entries : null
}

function decodeHeader(header: JsonRecord | null): OutlineEntry {
  const id = stringIn(header, 'bubbleId')
  return entryOf(id === null ? null : asMessageId(id), header)
}

/** The order of the messages in the chat's own row. */
export function outlineOf(conversation: readonly EmbeddedBody[]): Outline {
  return conversation.length === 0 ? null : conversation.map(({ id, record }) => entryOf(id, record))
}

function entryOf(id: MessageId | null, record: JsonRecord | null): OutlineEntry {
  const startedAtMs = readTime(record?.['startedAtMs'])
  const createdAtMs = readTime(record?.['createdAt']) ?? startedAtMs ?? readTime(record?.['completedAtMs'])
  return { id, role: readHeaderRole(record?.['type']), createdAtMs, startedAtMs }
}

/** Only the two known numbers: a guess here would match an entry with the wrong row. */
function readHeaderRole(type: unknown): Role | null {
  return type === 1 || type === 2 ? readRole(type) : null
}
