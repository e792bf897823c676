import { hash as digest } from 'node:crypto'
import { textKey, textKeys } from './text-key.ts'
import { searchColumns } from '../text/columns.ts'
import { marksOf } from '../text/marks.ts'
import type { MessageDraft, MessageWrite } from './batch.ts'

/** The costly half of writing a message, which needs no mirror: it can be done in another thread. */
export function packMessage({ parts, ...message }: MessageDraft): MessageWrite {
  const { columns, isCapped } = searchColumns(parts)
  return {
    ...message,
    partsJson: JSON.stringify(parts),
    toolCalls: parts.filter((part) => part.kind === 'tool').length,
    contentHash: digest('sha256', Object.values(columns).join('\u0000'), 'base64').slice(0, 20),
    isIndexCapped: isCapped,
    textKeys: textKeys(parts),
    marks: JSON.stringify(marksOf(parts)),
    userText: message.role === 'user' ? textKey(parts) : null,
  }
}
