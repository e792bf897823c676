import { notePendingReferences } from '../pending-references.ts'
import type { MessageWrite, PendingReference } from '../batch.ts'
import { withLent } from '../../threads/lent-tokens.ts'
import type { HeldMessage, MessageColumns, NextMessage } from './message-columns.ts'
import type { Mirror } from '../../open.ts'
import type { ThreadWrite } from '../../threads/place-thread.ts'
import type { Part } from '../../../model/part.ts'
import { packMessage } from './pack-message.ts'
import { readParts } from './save-message.ts'
import { parseParts } from '../../parse-parts.ts'

/** The next state of a message that was read. Its place is still the former one. */
export function upsertMessage(
  db: Mirror,
  { chatNum, source, lent }: Pick<ThreadWrite, 'chatNum' | 'source' | 'lent'>,
  held: HeldMessage | null,
  message: MessageWrite,
): NextMessage {
  const whole = withFoundContent(db, held, message)
  notePendingReferences(db, { chat: chatNum, source, messageId: message.id }, whole, held === null)
  const next = readAgain(held, whole, source)
  return lent.size === 0 ? next : { ...next, columns: { ...next.columns, ...withLent(next.columns, lent) } }
}

function readAgain(held: HeldMessage | null, message: MessageWrite, source: number): NextMessage {
  const columns: MessageColumns = {
    source,
    id: message.id,
    role: message.role,
    alias: message.alias,
    position: held?.position ?? null,
    created_at: held?.created_at ?? null,
    created_at_source: held?.created_at_source ?? null,
    sent_at: message.sentAtMs,
    started_at: message.startedAtMs,
    timing_at: message.timingAtMs,
    model: message.model,
    input_tokens: message.tokens?.input ?? null,
    output_tokens: message.tokens?.output ?? null,
    estimated_input: message.estimate.input,
    estimated_output: message.estimate.output,
    request_id: message.requestId ?? null,
    is_orphan: held?.is_orphan ?? 0,
    is_shadowed: held?.is_shadowed ?? 0,
    is_simulated: message.isSimulated ? 1 : 0,
    is_embedded: message.isEmbedded ? 1 : 0,
    is_live: message.remembered ? 0 : 1,
    deleted_at: message.remembered?.deletedAtMs ?? null,
    tool_calls: message.toolCalls,
    octets: message.octets,
    content_hash: message.contentHash,
    user_text: message.userText,
    text_keys: message.textKeys,
    marks: message.marks,
    is_index_capped: message.isIndexCapped ? 1 : 0,
  }
  return { held, columns, partsJson: message.partsJson, calls: message.calls }
}

/** Adds formerly found content to a message that was read again: Cursor writes the same row many times. */
function withFoundContent(db: Mirror, held: HeldMessage | null, message: MessageWrite): MessageWrite {
  const { asks, partsJson } = message
  if (held === null || asks.length === 0) return message
  const before = parseParts(readParts(db, held.body))
  const found = asks
    .map((reference) => ({ reference, part: findContent(before, reference) }))
    .filter(({ part }) => part !== null)
  if (found.length === 0) return message
  const parts = found.reduce(
    (sum, { reference, part }) => (part === null ? sum : addContent(sum, reference, part)),
    parseParts(partsJson),
  )
  const settled = new Set(found.map(({ reference }) => reference))
  return packMessage({ ...message, parts, asks: asks.filter((reference) => !settled.has(reference)) })
}

function findContent(parts: readonly Part[], { kind, name }: PendingReference): Part | null {
  const isAnswer = (part: Part): boolean =>
    kind === 'output'
      ? part.kind === 'tool' && part.callId === name && part.outputFrom !== undefined
      : part.kind === 'attachment' && part.hash === name
  return parts.find(isAnswer) ?? null
}

function addContent(parts: readonly Part[], { name }: PendingReference, answer: Part): readonly Part[] {
  if (answer.kind !== 'tool') return [...parts, answer]
  const { output, outputFrom } = answer
  return parts.map((part) =>
    part.kind === 'tool' && part.callId === name && outputFrom !== undefined ? { ...part, output, outputFrom } : part,
  )
}
