import { emptyBatch, type ChatWrite, type RowIssue, type RowState } from '../mirror/batch.ts'
import type { Mirror } from '../mirror/open.ts'
import { packMessage } from '../mirror/pack-message.ts'
import * as held from '../mirror/source-state.ts'
import { writeBatch } from '../mirror/write-batch.ts'
import { listRowChats } from '../mirror/write-rows.ts'
import type { ChatId } from '../model/ids.ts'
import { arrangeThread } from './arrange-thread.ts'
import { readingStep, type PassRequest, type PassStep } from './source.ts'
import type { Piece, WholeChat, WholeContent } from './whole-store.ts'

/** After every key there is. */
const LAST_KEY = '\u{10ffff}'

/**
 * Brings the mirror to what a store holds that was read as a whole. Pieces whose bytes are as they were are left alone,
 * unless every value is to be compared; a piece that could not be read keeps what was known of it.
 */
export function writeWhole(
  mirror: Mirror,
  source: held.SourceName,
  content: WholeContent,
  request: PassRequest,
): PassStep {
  const num = held.sourceNum(mirror, source)
  const known = new Map(held.listHeldRows(mirror, num, '', LAST_KEY).map((row) => [row.key, row]))
  const isSame = ({ key, octets, checksum }: Piece): boolean => {
    const row = known.get(key)
    return request.depth !== 'full' && row?.octets === octets && row.checksum === checksum
  }
  const changed = content.pieces.filter((piece) => !isSame(piece))
  const present = new Set(content.pieces.map(({ key }) => key))
  const goneKeys = [...known.keys()].filter((key) => !present.has(key))
  const readable = changed.filter((piece) => piece.issue === null || piece.chats.length > 0)
  const { pieces, workspaces, identity, signature, bytesRead, longestReadMs } = content
  const stillHeld = new Set(pieces.flatMap((piece) => piece.chats.map(({ id }) => id)))
  const before = [...readable.map(({ key }) => key), ...goneKeys].flatMap((key) => listRowChats(mirror, num, key))
  const gone = [...new Set(before)].filter((id) => !stillHeld.has(id))
  held.saveCounts(mirror, num, { totalRows: pieces.length, nullKeys: 0 }, request.now())
  const outcome = writeBatch(
    mirror,
    {
      ...emptyBatch,
      source: num,
      nowMs: request.now(),
      rows: changed.map(rowOf),
      goneKeys,
      issues: changed.flatMap(issueOf),
      chats: [...changed.flatMap((piece) => piece.chats.map((chat) => chatWrite(chat, piece))), ...gone.map(goneChat)],
      evidence: changed.flatMap((piece) => piece.evidence),
      heads: changed.flatMap((piece) => piece.heads),
      workspaces,
      position: { ...held.readPosition(mirror, num), identity, signature },
    },
    arrangeThread,
  )
  return { ...readingStep, done: changed.length, bytesRead, longestReadMs, outcome }
}

const rowOf = ({ key, octets, checksum, issue, chats }: Piece): RowState => ({
  key,
  rowid: 0,
  octets,
  checksum,
  // What could not be read still counts as held.
  ...(issue === null || chats.length > 0 ? { chatIds: chats.map(({ id }) => id) } : {}),
})

const issueOf = ({ key, octets, issue }: Piece): RowIssue[] => (issue === null ? [] : [{ key, octets, reason: issue }])

function chatWrite({ id, facts, outline, messages }: WholeChat, piece: Piece): ChatWrite {
  // Held by its piece, a message is gone when the piece no longer holds it.
  const drafts = messages.map((message) => packMessage({ ...message, isEmbedded: true }))
  const embeddedIds = new Set(messages.map((message) => message.id))
  return {
    id,
    ownRow: { kind: 'read', facts, outline, embeddedIds, octets: piece.chats.length === 1 ? piece.octets : 0 },
    messages: drafts,
    vanished: [],
  }
}

const goneChat = (id: ChatId): ChatWrite => ({ id, ownRow: { kind: 'gone' }, messages: [], vanished: [] })
