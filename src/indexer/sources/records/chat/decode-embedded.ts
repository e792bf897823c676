import type { MessageDraft } from '../../../../mirror/write/batch.ts'
import { asMessageId, type MessageId } from '../../../../model/ids.ts'
import type { IssueReason } from '../../../../model/issue.ts'
import type { Placeholder, Placeholders } from '../../../../model/message.ts'
import { decodeMessageRecord } from '../message/decode-message.ts'
import { asRecord, filledStringIn, listIn, recordIn, wellFormed, type JsonRecord } from '../json/json-value.ts'

/** A message's body inside its chat's row. `record` is null if the element is not an object. */
export interface EmbeddedBody {
  readonly id: MessageId
  readonly record: JsonRecord | null
}

export type MakeId = (ordinal: number) => MessageId

/** The bodies of `conversation[]` in order, each with a unique id. */
export function readConversation(chat: JsonRecord, makeId: MakeId): readonly EmbeddedBody[] {
  const taken = new Set<MessageId>()
  return listIn(chat, 'conversation').map((element, ordinal) => {
    const record = asRecord(element)
    const own = filledStringIn(record, 'bubbleId')
    const id = own === null || taken.has(asMessageId(own)) ? makeId(ordinal) : asMessageId(own)
    taken.add(id)
    return { id, record }
  })
}

/** The bodies of `conversationMap` that are not in `conversation[]`. Their ordinals continue after those. */
export function readConversationMap(
  chat: JsonRecord,
  conversation: readonly EmbeddedBody[],
  makeId: MakeId,
): readonly EmbeddedBody[] {
  const listed = new Set(conversation.map((body) => body.id))
  const taken = new Set<MessageId>()
  const bodies: EmbeddedBody[] = []
  for (const [index, [key, element]] of Object.entries(recordIn(chat, 'conversationMap') ?? {}).entries()) {
    const own = asMessageId(wellFormed(key))
    const record = asRecord(element)
    if (record === null || listed.has(own)) continue
    const id = key === '' || taken.has(own) ? makeId(conversation.length + index) : own
    taken.add(id)
    bodies.push({ id, record })
  }
  return bodies
}

export interface DecodedEmbedded {
  readonly messages: readonly MessageDraft[]
  readonly placeholders: Placeholders
  readonly issue: IssueReason | null
}

/** Bodies that have nothing to show are left out; their place in the order stays, as a gap. */
export function decodeEmbedded(
  bodies: readonly EmbeddedBody[],
  toolData: ReadonlyMap<MessageId, unknown>,
): DecodedEmbedded {
  const messages: MessageDraft[] = []
  const placeholders = new Map<MessageId, Placeholder | null>()
  let issue: IssueReason | null = null
  for (const { id, record } of bodies) {
    if (record === null) continue
    const decoded = decodeMessageRecord(record, { id, octets: 0, isEmbedded: true, toolData: toolData.get(id) })
    if (decoded.kind === 'message') messages.push(decoded.message)
    else if (decoded.kind === 'nothing') placeholders.set(id, decoded.placeholder ?? null)
    issue ??= decoded.kind === 'issue' ? decoded.reason : decoded.issue
  }
  return { messages, placeholders, issue }
}
