import { basename } from 'node:path'
import type { Piece } from '../../../src/indexer/whole-store.ts'
import { asChatId } from '../../../src/model/ids.ts'
import { draftOf, noFacts } from '../../helpers/mirror-writes.ts'

/** Each line is a message; `>` is the user's. */
export function decodeDiary(path: string, bytes: Buffer): Pick<Piece, 'chats' | 'issue'> {
  const lines = bytes.toString('utf8').split('\n')
  if (lines[0] !== 'diary') return { chats: [], issue: 'bad-json' }
  const messages = lines
    .slice(1)
    .map((line, ordinal) => draftOf(`line-${ordinal}`, line, { role: line.startsWith('>') ? 'user' : 'assistant' }))
  const outline = messages.map(({ id, role }) => ({ id, role, createdAtMs: null, startedAtMs: null }))
  const facts = { ...noFacts, format: 'transcript' } as const
  return { chats: [{ id: asChatId(basename(path)), facts, outline, messages }], issue: null }
}
