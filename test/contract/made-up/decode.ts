import { basename } from 'node:path'
import type { Piece } from '../../../src/indexer/whole-store.ts'
import { asChatId, asMessageId } from '../../../src/model/ids.ts'

/** Each line is a message; `>` is the user's. */
export function decodeDiary(path: string, bytes: Buffer): Pick<Piece, 'chats' | 'issue'> {
  const lines = bytes.toString('utf8').split('\n')
  if (lines[0] !== 'diary') return { chats: [], issue: 'bad-json' }
  const messages = lines.slice(1).map((line, ordinal) => ({
    id: asMessageId(`line-${ordinal}`),
    alias: null,
    role: line.startsWith('>') ? ('user' as const) : ('assistant' as const),
    sentAtMs: null,
    startedAtMs: null,
    timingAtMs: null,
    model: null,
    tokens: null,
    parts: [{ kind: 'text' as const, text: line }],
    isSimulated: false,
    octets: line.length,
    isEmbedded: true,
  }))
  const outline = messages.map(({ id, role }) => ({ id, role, createdAtMs: null, startedAtMs: null }))
  const facts = {
    format: 'transcript' as const,
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
  return { chats: [{ id: asChatId(basename(path)), facts, outline, messages }], issue: null }
}
