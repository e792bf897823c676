import { decodeTranscript } from '../../../src/indexer/sources/transcripts/decode-transcript.ts'
import type { DecodedTranscript } from '../../../src/indexer/sources/transcripts/transcript.ts'
import { asChatId, asMessageId } from '../../../src/model/ids.ts'
import type { Part } from '../../../src/model/part.ts'

/** Messages are named `chat/0`, `chat/1` and so on, by their places. */
export const decode = (content: string | Buffer): DecodedTranscript =>
  decodeTranscript(Buffer.from(content), asChatId('chat'), (chatId, ordinal) => asMessageId(`${chatId}/${ordinal}`))

/** The parts of the messages, role first. */
export const partsOf = (content: string | Buffer): readonly (readonly [string, ...Part[]])[] =>
  decode(content).messages.map(({ role, parts }) => [role, ...parts] as const)

export const text = (words: string): Part => ({ kind: 'text', text: words })

export const tool = (name: string, more: Partial<Extract<Part, { kind: 'tool' }>> = {}): Part => ({
  kind: 'tool',
  name,
  status: 'completed',
  callId: null,
  input: null,
  output: null,
  error: null,
  paths: [],
  ...more,
})
