import { basename } from 'node:path'
import type { Piece } from '../../../src/indexer/open-safely/whole-store.ts'
import { asChatId } from '../../../src/model/ids.ts'
import { draftOf, noFacts } from '../../helpers/mirror-writes.ts'

/**
 * Each line is a message; lines with `>` are the user's.
 * @param decoder from version 2 on, an indented line belongs to the message above it, and names do not contain `.txt`
 */
export function decodeDiary(path: string, bytes: Buffer, decoder: number): Pick<Piece, 'chats' | 'issue'> {
  const text = bytes.toString('utf8')
  const lines = (decoder > 1 ? text.replaceAll('\n  ', ' ') : text).split('\n')
  if (lines[0] !== 'diary') return { chats: [], issue: 'bad-json' }
  const messages = lines
    .slice(1)
    .map((line, ordinal) => draftOf(`line-${ordinal}`, line, { role: line.startsWith('>') ? 'user' : 'assistant' }))
  const outline = messages.map(({ id, role }) => ({ id, role, createdAtMs: null, startedAtMs: null }))
  const facts = { ...noFacts, format: 'transcript' } as const
  const id = asChatId(decoder > 1 ? basename(path, '.txt') : basename(path))
  return { chats: [{ id, facts, outline, messages }], issue: null }
}
