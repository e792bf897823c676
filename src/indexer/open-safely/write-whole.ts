import { emptyBatch, type Batch, type ChatWrite, type RowIssue, type RowState } from '../../mirror/write/batch.ts'
import { OUTDATED_ROWID } from '../../mirror/sources/source-state.ts'
import type { Mirror } from '../../mirror/open.ts'
import { packMessage } from '../../mirror/write/messages/pack-message.ts'
import { withOwnIds } from '../../mirror/threads/messages-by-place.ts'
import * as held from '../../mirror/sources/source-state.ts'
import { writeBatch } from '../../mirror/write/write-batch.ts'
import { listRowChats } from '../../mirror/write/write-rows.ts'
import type { ChatId } from '../../model/ids.ts'
import { judgeMissing } from '../mass-loss.ts'
import { INDEXED_AT_ONCE, readingStep, type PassRequest, type PassStep } from '../source.ts'
import type { Piece, WholeChat, WholeContent } from './whole-store.ts'

/** Sorts after every key. */
const LAST_KEY = '\u{10ffff}'

/** Pieces are written together until they add up to this many bytes. */
const STEP_OCTETS_MAX = 2 * 1024 * 1024

/**
 * Brings the mirror to the content of a store that was read as a whole, a few pieces per step. Pieces with unchanged
 * bytes are skipped, unless every value is to be compared. For a piece that could not be read, the mirror keeps what it
 * has. Deletions and the position are written with the last step.
 */
export function* writeWhole(
  mirror: Mirror,
  source: held.SourceName,
  content: WholeContent,
  request: PassRequest,
): Generator<PassStep, void> {
  const num = held.sourceNum(mirror, source)
  const { workspaces, identity, signature, bytesRead, longestReadMs } = content
  const pieces = withoutStandIns(mirror, num, content.pieces)
  const { changed, goneKeys, droppedKeys, goneChats, outdated } = compare(mirror, num, { ...content, pieces }, request)
  held.saveCounts(mirror, num, { totalRows: pieces.length + (content.keptKeys?.size ?? 0), nullKeys: 0 }, request.now())
  const steps = inSteps(changed)
  let written = 0
  let done = 0
  for (const [at, step] of steps.entries()) {
    const isLast = at === steps.length - 1
    const position = { ...held.readPosition(mirror, num), identity, signature }
    const end = isLast ? { goneKeys, droppedKeys, workspaces, position } : {}
    const chats = [...step.flatMap(chatsOf), ...(isLast ? goneChats.map(goneChat) : [])].map((chat) =>
      withoutOldReading(withOwnIds(mirror, num, chat), outdated.get(chat.id)),
    )
    const isIndexedLater = written >= INDEXED_AT_ONCE
    const batch = { ...emptyBatch, ...partsOf(step), ...end, chats, isIndexedLater, source: num, nowMs: request.now() }
    const outcome = writeBatch(mirror, batch)
    written += outcome.messages.length
    done += step.length
    const read = at === 0 ? { bytesRead, longestReadMs } : {}
    yield { ...readingStep, ...read, done, total: changed.length, outcome }
  }
}

/** While the piece that a chat was read from cannot be read, its content is kept and no other piece replaces it. */
function withoutStandIns(mirror: Mirror, num: number, pieces: readonly Piece[]): readonly Piece[] {
  const unread = pieces.filter(({ issue, chats }) => issue !== null && chats.length === 0)
  const keptChats = new Set(unread.flatMap(({ key }) => listRowChats(mirror, num, key)))
  if (keptChats.size === 0) return pieces
  return pieces.map((piece) => ({ ...piece, chats: piece.chats.filter(({ id }) => !keptChats.has(id)) }))
}

interface Difference {
  readonly changed: readonly Piece[]
  readonly goneKeys: readonly string[]
  readonly droppedKeys: readonly string[]
  readonly goneChats: readonly ChatId[]
  readonly outdated: ReadonlyMap<ChatId, OutdatedChat>
}

/** A chat as it was read before. `isUntouched`: the store still contains what it was read from. */
interface OutdatedChat {
  readonly isUntouched: boolean
}

function compare(
  mirror: Mirror,
  num: number,
  { pieces, keptKeys = new Set() }: WholeContent,
  request: PassRequest,
): Difference {
  const { depth } = request
  const known = new Map(held.listHeldRows(mirror, num, '', LAST_KEY).map((row) => [row.key, row]))
  const isSame = ({ key, octets, checksum, chats, stamp = 0 }: Piece): boolean => {
    const row = known.get(key)
    if (depth === 'full' || row?.octets !== octets || row.checksum !== checksum || row.rowid !== stamp) return false
    // If a chat is in two pieces, the more complete one counts, so a change of one piece can affect the other.
    const before = listRowChats(mirror, num, key)
    return before.length === chats.length && chats.every(({ id }) => before.includes(id))
  }
  const changed = pieces.filter((piece) => !isSame(piece))
  const present = new Set(pieces.map(({ key }) => key))
  const isPresent = ({ key }: held.HeldRow): boolean => present.has(key) || keptKeys.has(key)
  const missing = [...known.values()].filter((row) => !isPresent(row))
  const backKeys = [...known.values()].filter((row) => row.missedAtMs !== null && isPresent(row)).map(({ key }) => key)
  const isDropped = ({ key, rowid }: held.HeldRow): boolean =>
    rowid === OUTDATED_ROWID && listRowChats(mirror, num, key).length === 0
  const droppedKeys = missing.filter(isDropped).map(({ key }) => key)
  const lost = missing.filter((row) => !isDropped(row))
  const gone = judgeMissing(mirror, num, { missing: lost, backKeys }, request)
  const goneKeys = [...gone]
  const missed = lost.flatMap(({ key }) => (gone.has(key) ? [] : [key]))
  const readable = changed.filter((piece) => piece.issue === null || piece.chats.length > 0)
  const stillHeld = new Set(pieces.flatMap((piece) => piece.chats.map(({ id }) => id)))
  const before = [...readable.map(({ key }) => key), ...goneKeys].flatMap((key) => listRowChats(mirror, num, key))
  const absent = [...new Set(before)].filter((id) => !stillHeld.has(id))
  const heldKeys = absent.length === 0 ? [] : [...keptKeys, ...missed]
  const keptChats = new Set(heldKeys.flatMap((key) => listRowChats(mirror, num, key)))
  const outdated = listOutdated(mirror, num, { known: [...known.values()], pieces })
  return { changed, goneKeys, droppedKeys, goneChats: absent.filter((id) => !keptChats.has(id)), outdated }
}

/**
 * Chats whose reading changes: those of rows that an older decoder read, and those that now come from another piece
 * although the former one still exists. A chat can be in several pieces, such as one file per format.
 */
function listOutdated(
  mirror: Mirror,
  num: number,
  { known, pieces }: { readonly known: readonly held.HeldRow[]; readonly pieces: readonly Piece[] },
): ReadonlyMap<ChatId, OutdatedChat> {
  const byKey = new Map(pieces.map((piece) => [piece.key, piece]))
  const pieceOfChat = new Map(pieces.flatMap(({ key, chats }) => chats.map(({ id }) => [id, key] as const)))
  const outdated = new Map<ChatId, OutdatedChat>()
  for (const row of known) {
    const isOldReading = row.rowid === OUTDATED_ROWID
    for (const id of listRowChats(mirror, num, row.key)) {
      const pieceKey = pieceOfChat.get(id)
      const isMoved = pieceKey !== undefined && pieceKey !== row.key && byKey.has(row.key)
      if (!isOldReading && !isMoved) continue
      const isUntouched = byKey.get(row.key)?.octets === row.octets && outdated.get(id)?.isUntouched !== false
      outdated.set(id, { isUntouched })
    }
  }
  return outdated
}

/** What a newer decoder makes of a chat: what only the older decoder produced is removed. */
export function withoutOldReading(chat: ChatWrite, before: OutdatedChat | undefined): ChatWrite {
  if (before === undefined) return chat
  // In a store that changed too, a new reading cannot be told from new words.
  return before.isUntouched ? { ...chat, supersedes: true } : { ...chat, isByPlace: false }
}

/** Always at least one step, which may be empty: the position is written even if no piece changed. */
function inSteps(pieces: readonly Piece[]): Piece[][] {
  const steps: Piece[][] = [[]]
  let octets = 0
  for (const piece of pieces) {
    if (octets > STEP_OCTETS_MAX) {
      steps.push([])
      octets = 0
    }
    steps.at(-1)?.push(piece)
    octets += piece.octets
  }
  return steps
}

const partsOf = (pieces: readonly Piece[]): Pick<Batch, 'rows' | 'issues' | 'evidence' | 'heads' | 'paths'> => ({
  rows: pieces.map(rowOf),
  issues: pieces.flatMap(issueOf),
  evidence: pieces.flatMap((piece) => piece.evidence),
  heads: pieces.flatMap((piece) => piece.heads),
  paths: pieces.flatMap((piece) => piece.paths ?? []),
})

const chatsOf = (piece: Piece): ChatWrite[] => piece.chats.map((chat) => chatWrite(chat, piece))

const rowOf = ({ key, octets, checksum, issue, chats, stamp = 0 }: Piece): RowState => ({
  key,
  rowid: stamp,
  octets,
  checksum,
  // An unreadable piece still counts as held.
  ...(issue === null || chats.length > 0 ? { chatIds: chats.map(({ id }) => id) } : {}),
})

const issueOf = ({ key, octets, issue }: Piece): RowIssue[] => (issue === null ? [] : [{ key, octets, reason: issue }])

function chatWrite(
  { id, facts, outline, messages, placeholders, keptIds = [], octets, isByPlace, slug }: WholeChat,
  piece: Piece,
): ChatWrite {
  // An embedded message is gone when its piece no longer contains it.
  const drafts = messages.map((message) => packMessage({ ...message, isEmbedded: true }))
  const embeddedIds = new Set([...messages.map((message) => message.id), ...keptIds])
  return {
    id,
    ownRow: { kind: 'read', facts, outline, embeddedIds, octets: octets ?? piece.octets },
    messages: drafts,
    vanished: [],
    ...(placeholders === undefined ? {} : { placeholders }),
    ...(isByPlace === undefined ? {} : { isByPlace }),
    ...(slug === undefined ? {} : { slug }),
  }
}

export const goneChat = (id: ChatId): ChatWrite => ({ id, ownRow: { kind: 'gone' }, messages: [], vanished: [] })
