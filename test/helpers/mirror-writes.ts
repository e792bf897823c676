import type { ChatFacts } from '../../src/model/change.ts'

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
