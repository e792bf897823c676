import type { ChatFacts, MessageDraft } from '../../src/mirror/write/batch.ts'
import { asMessageId } from '../../src/model/ids.ts'

/** The facts of a chat without any information. */
export const noFacts: ChatFacts = {
  format: 'split',
  name: null,
  summary: null,
  todos: [],
  createdAtMs: null,
  updatedAtMs: null,
  mode: null,
  model: null,
  status: null,
  isArchived: false,
  isDraft: false,
  isSubagent: false,
  parentChatId: null,
  childChatIds: [],
  linesAdded: null,
  linesRemoved: null,
  filesChanged: null,
  contextTokens: null,
  recordedCostCents: null,
}

/** A user's message with one text and without a time. */
export const draftOf = (id: string, text: string, more: Partial<MessageDraft> = {}): MessageDraft => ({
  id: asMessageId(id),
  alias: null,
  role: 'user',
  sentAtMs: null,
  startedAtMs: null,
  timingAtMs: null,
  model: null,
  tokens: null,
  parts: [{ kind: 'text', text }],
  isSimulated: false,
  octets: text.length,
  isEmbedded: false,
  ...more,
})
