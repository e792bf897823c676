import type { Mirror } from '../../mirror/open.ts'
import * as held from '../../mirror/sources/sources.ts'
import { withOwnIds } from '../../mirror/write/messages.ts'
import {
  type ChatFacts,
  type EvidenceWrite,
  type ChatMetadata,
  type MessageDraft,
  type PathsWrite,
  type WorkspaceWrite,
  emptyChange,
  type ChatChange,
  type RowState,
} from '../../model/change.ts'
import { packMessage } from '../../mirror/write/pack-message.ts'
import { listRowChats, writeChange } from '../../mirror/write/write.ts'
import type { ChatId, MessageId } from '../../model/ids.ts'
import type { IssueReason } from '../../model/issue.ts'
import type { Placeholders } from '../../model/message.ts'
import type { Outline } from '../../model/thread.ts'
import { URGENT_MAX, judgeMissing, type PassRequest, type Turn } from '../source.ts'

/** A whole chat, as one piece of a store contains it. */
export interface WholeChat {
  readonly id: ChatId
  readonly facts: ChatFacts
  readonly outline: Outline
  readonly messages: readonly MessageDraft[]
  /** Messages that also belong to it and stay in the mirror unchanged. */
  readonly keptIds?: readonly MessageId[]
  /** Left out if the store has none. */
  readonly placeholders?: Placeholders
  /** See `ChatChange`. */
  readonly isByPlace?: boolean
  readonly slug?: string
  /** Its size within the piece; left out if the piece contains only this chat. */
  readonly octets?: number
}

/** A part of a store that is read as a whole: one value of a table, or one file. */
export interface Piece {
  /** Unique within its source, and the same in every pass. */
  readonly key: string
  readonly octets: number
  /** CRC-32 of its bytes; null if it could not be read. */
  readonly checksum: number | null
  readonly chats: readonly WholeChat[]
  readonly evidence: readonly EvidenceWrite[]
  readonly metadata: readonly ChatMetadata[]
  /** Files of its chats, which place them if there is no other evidence. */
  readonly paths?: readonly PathsWrite[]
  /**
   * Equal as long as the piece is unchanged, and known without reading it. Left out if the store is always read whole.
   */
  readonly stamp?: number
  readonly issue: IssueReason | null
}

/** Everything that a small store contains now. A piece that is missing here is gone. */
export interface WholeContent {
  readonly pieces: readonly Piece[]
  /** Pieces that exist, were held before and were not read this time. The mirror keeps what it has of them. */
  readonly keptKeys?: ReadonlySet<string>
  /** Kept keys of pieces that no longer exist: the last portion of a folder says that they are gone. */
  readonly absentKeys?: ReadonlySet<string>
  readonly workspaces: readonly WorkspaceWrite[]
  /** Device and inode, or whatever else distinguishes this store from another one of the same name. */
  readonly identity: string
  /** The store's signature before it was read. */
  readonly signature: string | null
  readonly bytesRead: number
  readonly longestReadMs: number
}

/** Gives an id to a message that has none in the store. */
export type NameMessage = (chatId: ChatId, ordinal: number) => MessageId

/** Sorts after every key. */
const LAST_KEY = '\u{10ffff}'

/** Pieces are written together until they add up to this many bytes. */
const STEP_OCTETS_MAX = 2 * 1024 * 1024

/**
 * Brings the mirror to the content of a store that was read as a whole, a few pieces per step. Pieces with unchanged
 * bytes are skipped, unless every value is to be compared. For a piece that could not be read, the mirror keeps what it
 * has. Deletions and the position are written with the last step.
 */
export async function writeWhole(
  mirror: Mirror,
  num: number,
  content: WholeContent,
  request: PassRequest,
): Promise<void> {
  const { workspaces, identity, signature, bytesRead, longestReadMs } = content
  const pieces = withoutStandIns(mirror, num, content.pieces)
  const { changed, goneKeys, droppedKeys, goneChats, outdated } = compare(mirror, num, { ...content, pieces }, request)
  held.saveCounts(mirror, {
    num,
    totalRows: pieces.length + (content.keptKeys?.size ?? 0),
    nullKeys: 0,
    nowMs: request.now(),
  })
  // At least one, as the position is written even if no piece changed.
  const steps = inPortions(changed, (piece) => piece.octets, STEP_OCTETS_MAX)
  let written = 0
  let done = 0
  for (const [at, step] of steps.entries()) {
    const isLast = at === steps.length - 1
    const position = { ...held.readPosition(mirror, num), identity, signature }
    const chats = step.flatMap((piece) => piece.chats.map((chat) => chatWrite(chat, piece.octets)))
    const outcome = writeChange(mirror, {
      ...emptyChange,
      rows: step.map(rowOf),
      issues: step.flatMap(({ key, octets, issue }) => (issue === null ? [] : [{ key, octets, reason: issue }])),
      evidence: step.flatMap((piece) => piece.evidence),
      metadata: step.flatMap((piece) => piece.metadata),
      paths: step.flatMap((piece) => piece.paths ?? []),
      ...(isLast ? { goneKeys, droppedKeys, workspaces, position } : {}),
      chats: [...chats, ...(isLast ? goneChats.map(goneChat) : [])].map((chat) =>
        withoutOldReading(withOwnIds(mirror, num, chat), outdated.get(chat.id)),
      ),
      isUrgent: written < URGENT_MAX,
      source: num,
      nowMs: request.now(),
    })
    written += outcome.messages.length
    done += step.length
    const read = at === 0 ? { bytesRead, longestReadMs } : {}
    await request.turn({ ...read, done, total: changed.length, outcome })
  }
}

/** While the piece that a chat was read from cannot be read, its content is kept and no other piece replaces it. */
function withoutStandIns(mirror: Mirror, num: number, pieces: readonly Piece[]): readonly Piece[] {
  const unread = pieces.filter(({ issue, chats }) => issue !== null && chats.length === 0)
  const keptChats = new Set(unread.flatMap(({ key }) => listRowChats(mirror, num, key)))
  if (keptChats.size === 0) return pieces
  return pieces.map((piece) => ({ ...piece, chats: piece.chats.filter(({ id }) => !keptChats.has(id)) }))
}

/** Chats that were read before. True if the store still contains what a chat was read from. */
type Outdated = ReadonlyMap<ChatId, boolean>

function compare(
  mirror: Mirror,
  num: number,
  { pieces, keptKeys = new Set(), absentKeys }: WholeContent,
  request: PassRequest,
) {
  const known = new Map(held.listHeldRows(mirror, num, '', LAST_KEY).map((row) => [row.key, row]))
  const isSame = ({ key, octets, checksum, chats, stamp = 0 }: Piece): boolean => {
    const row = known.get(key)
    if (request.depth === 'values' || row?.octets !== octets || row.checksum !== checksum || row.rowid !== stamp)
      return false
    // If a chat is in two pieces, the more complete one counts, so a change of one piece can affect the other.
    const before = listRowChats(mirror, num, key)
    return before.length === chats.length && chats.every(({ id }) => before.includes(id))
  }
  const changed = pieces.filter((piece) => !isSame(piece))
  const present = new Set(pieces.map(({ key }) => key))
  const isPresent = ({ key }: held.HeldRow): boolean => present.has(key) || keptKeys.has(key)
  const missing = [...known.values()].filter((row) => !isPresent(row))
  const isBack = (row: held.HeldRow): boolean =>
    row.missedAtMs !== null && isPresent(row) && absentKeys?.has(row.key) !== true
  const backKeys = [...known.values()].filter(isBack).map(({ key }) => key)
  const isDropped = ({ key, rowid }: held.HeldRow): boolean =>
    rowid === held.OUTDATED_ROWID && listRowChats(mirror, num, key).length === 0
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
  const outdated = listOutdated(mirror, num, [...known.values()], pieces)
  return { changed, goneKeys, droppedKeys, goneChats: absent.filter((id) => !keptChats.has(id)), outdated }
}

/**
 * Chats whose reading changes: those of rows that an older decoder read, and those that now come from another piece
 * although the former one still exists. A chat can be in several pieces, such as one file per format.
 */
function listOutdated(mirror: Mirror, num: number, known: readonly held.HeldRow[], pieces: readonly Piece[]): Outdated {
  const byKey = new Map(pieces.map((piece) => [piece.key, piece]))
  const pieceOfChat = new Map(pieces.flatMap(({ key, chats }) => chats.map(({ id }) => [id, key] as const)))
  const outdated = new Map<ChatId, boolean>()
  for (const { key, rowid, octets } of known) {
    for (const id of listRowChats(mirror, num, key)) {
      const isMoved = byKey.has(key) && (pieceOfChat.get(id) ?? key) !== key
      if (rowid !== held.OUTDATED_ROWID && !isMoved) continue
      outdated.set(id, byKey.get(key)?.octets === octets && outdated.get(id) !== false)
    }
  }
  return outdated
}

/** What a newer decoder makes of a chat: what only the older decoder produced is removed. */
function withoutOldReading(chat: ChatChange, isUntouched: boolean | undefined): ChatChange {
  if (isUntouched === undefined) return chat
  // In a store that changed too, a new reading cannot be told from new words.
  return isUntouched ? { ...chat, supersedes: true } : { ...chat, isByPlace: false }
}

/** What is written together: always at least one portion, which may be empty. */
export function inPortions<Item>(
  items: readonly Item[],
  octetsOf: (item: Item) => number,
  octetsMax: number,
  itemsMax = Infinity,
): Item[][] {
  let portion: Item[] = []
  let octets = 0
  const portions = [portion]
  for (const item of items) {
    if (octets >= octetsMax || portion.length >= itemsMax) {
      portions.push((portion = []))
      octets = 0
    }
    portion.push(item)
    octets += octetsOf(item)
  }
  return portions
}

const rowOf = ({ key, octets, checksum, issue, chats, stamp = 0 }: Piece): RowState => ({
  key,
  rowid: stamp,
  octets,
  checksum,
  // An unreadable piece still counts as held.
  ...(issue === null || chats.length > 0 ? { chatIds: chats.map(({ id }) => id) } : {}),
})

/** @param pieceOctets the size of what contains it */
export function chatWrite(
  { id, facts, outline, messages, keptIds = [], octets, ...rest }: WholeChat,
  pieceOctets: number,
): ChatChange {
  // An embedded message is gone when its piece no longer contains it.
  const drafts = messages.map((message) => packMessage({ ...message, isEmbedded: true }))
  const embeddedIds = new Set([...messages.map((message) => message.id), ...keptIds])
  return {
    id,
    ownRow: { kind: 'read', facts, outline, embeddedIds, octets: octets ?? pieceOctets },
    messages: drafts,
    vanished: [],
    ...rest,
  }
}

export const goneChat = (id: ChatId): ChatChange => ({ id, ownRow: { kind: 'gone' }, messages: [], vanished: [] })

/** Files of a folder that are read together: all that may have the same chat. */
export interface FileGroup {
  readonly keys: readonly string[]
  /** Equal as long as none of the files changed. It is the `stamp` of their pieces. */
  readonly stamp: number
}

/** A folder at one moment, from `stat` alone. */
export interface FolderListing<Group extends FileGroup> extends Pick<WholeContent, 'identity' | 'signature'> {
  readonly groups: readonly Group[]
}

/** What was read of a group of files. */
export type GroupContent = Pick<WholeContent, 'pieces' | 'bytesRead' | 'longestReadMs'>

/** Chats are collected in memory until they add up to this many bytes. */
const PORTION_OCTETS_MAX = 4 * 1024 * 1024

/**
 * Brings the mirror to the content of a folder, a few groups of files per portion. Files that are unchanged since the
 * mirror read them are not opened, unless every value is to be compared. The signature is saved only after everything was
 * read.
 * @param readGroup null if the files cannot be read at the moment
 * @returns how many groups could not be read
 */
export async function writeFolder<Group extends FileGroup>(
  mirror: Mirror,
  num: number,
  { identity, signature, groups }: FolderListing<Group>,
  request: PassRequest,
  readGroup: (group: Group) => GroupContent | null,
): Promise<number> {
  const listHeld = (): held.HeldRow[] => held.listHeldRows(mirror, num, '', LAST_KEY)
  const stamps = new Map(listHeld().map(({ key, rowid }) => [key, rowid]))
  const isTouched = ({ keys, stamp }: Group): boolean => keys.some((key) => stamps.get(key) !== stamp)
  const touched = groups.filter((group) => request.depth === 'values' || isTouched(group))
  const present = new Set(groups.flatMap(({ keys }) => keys))
  let pieces: Piece[] = []
  let done = 0
  let busy = 0

  /** Everything outside this portion is kept. Deletions come with the last portion, when all files are known. */
  const writePortion = async (isLast: boolean): Promise<void> => {
    const keys = new Set(pieces.map(({ key }) => key))
    // Queried each time, because an earlier portion may have written some.
    const others = listHeld().flatMap(({ key }) => (keys.has(key) || (isLast && !present.has(key)) ? [] : key))
    const absentKeys = new Set(others.filter((key) => !present.has(key)))
    const before = done
    const turn: Turn = (step) => request.turn({ ...step, done: before + (step?.done ?? 0), total: touched.length })
    const kept = { keptKeys: new Set(others), absentKeys }
    const content = { pieces, ...kept, workspaces: [], identity, bytesRead: 0, longestReadMs: 0 }
    const end = isLast && busy === 0 ? signature : null
    await writeWhole(mirror, num, { ...content, signature: end }, { ...request, turn })
    done += pieces.length
    pieces = []
  }

  for (const group of touched) {
    const found = readGroup(group)
    if (found === null) {
      busy += 1
      continue
    }
    await request.turn({ bytesRead: found.bytesRead, longestReadMs: found.longestReadMs })
    pieces.push(...found.pieces)
    if (pieces.reduce((sum, { octets }) => sum + octets, 0) >= PORTION_OCTETS_MAX) await writePortion(false)
  }
  await writePortion(true)
  return busy
}
