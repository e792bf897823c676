import { hash as digest } from 'node:crypto'
import { textKey, textKeys } from './text-key.ts'
import { wholeColumns } from '../../../text/terms/columns.ts'
import { marksOf } from '../../../text/terms/marks.ts'
import type { PendingReference, MessageDraft, MessageWrite } from '../batch.ts'
import { estimateMessage } from '../../../text/tokens/estimate-tokens.ts'
import { callsOf } from './message-calls.ts'

const noReferences: readonly PendingReference[] = []
const noChildren: MessageWrite['childChatIds'] = []

/** The expensive part of writing a message. It needs no database. */
export function packMessage(draft: MessageDraft): MessageWrite {
  const { parts } = draft
  const { columns, isCapped } = wholeColumns(parts)
  // Field by field: an object from a rest pattern is slow to create and slow to read afterwards.
  return {
    id: draft.id,
    alias: draft.alias,
    role: draft.role,
    sentAtMs: draft.sentAtMs,
    startedAtMs: draft.startedAtMs,
    timingAtMs: draft.timingAtMs,
    model: draft.model,
    tokens: draft.tokens,
    requestId: draft.requestId ?? null,
    isSimulated: draft.isSimulated,
    octets: draft.octets,
    isEmbedded: draft.isEmbedded,
    asks: draft.asks ?? noReferences,
    childChatIds: draft.childChatIds ?? noChildren,
    partsJson: JSON.stringify(parts),
    estimate: estimateMessage(draft.role, parts),
    toolCalls: parts.filter((part) => part.kind === 'tool').length,
    calls: callsOf(parts),
    contentHash: digest('sha256', Object.values(columns).join('\u0000'), 'base64').slice(0, 20),
    isIndexCapped: isCapped,
    textKeys: textKeys(parts),
    marks: JSON.stringify(marksOf(parts)),
    userText: draft.role === 'user' ? textKey(parts) : null,
    remembered: draft.remembered ?? null,
  }
}
