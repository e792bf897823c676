import type {
  ChatChange,
  EvidenceWrite,
  MessageDraft,
  MessageWrite,
  OwnRow,
  PathsWrite,
  RowIssue,
  RowState,
} from '../../../model/change.ts'
import type { Mirror } from '../../../mirror/open.ts'
import * as held from '../../../mirror/sources/sources.ts'
import { packMessage } from '../../../mirror/write/pack-message.ts'
import { asMessageId, type ChatId, type MessageId } from '../../../model/ids.ts'
import type { IssueReason } from '../../../model/issue.ts'
import type { Placeholder, Role } from '../../../model/message.ts'
import { ITEMS_MAX } from '../../open-safely/cursor-file.ts'
import { weighEvidence, type Evidence } from '../../projects/root-uri.ts'
import { decodeChatRow, madeId, type DecodedChatRow } from '../records/chat.ts'
import { decodeMessageRow } from '../records/message.ts'
import type { ChatDiff, Compared } from './find-changes.ts'
import { type Page, type RawRow, type RowRef, chatKey, readPage, splitKey } from './read.ts'

/** One portion of what was read, ready for one transaction of the mirror. */
export type Portion = ReturnType<typeof emptyPortion>

const emptyPortion = () => ({
  chats: [] as ChatChange[],
  rows: [] as RowState[],
  goneKeys: [] as string[],
  droppedKeys: [] as string[],
  issues: [] as RowIssue[],
  evidence: [] as EvidenceWrite[],
  paths: [] as PathsWrite[],
  bytesRead: 0,
  longestReadMs: 0,
  rowsDone: 0,
})

/** Decoded data is written when it reaches this length, so that memory does not grow with a chat's size. */
const PORTION_LENGTH_MAX = 2 * 1024 * 1024
/** Nor does a transaction with the number of its messages. */
const PORTION_ROWS_MAX = 2000

/**
 * Reads the changes in a few chats: first the chats' own rows, for order and tool data, then their messages by rowid.
 * Yields a portion whenever enough was read; every portion is complete in itself.
 */
export function* readChats(compared: Compared, diffs: readonly ChatDiff[]): Generator<Portion, void> {
  const { file } = compared
  const draft = new PortionDraft(compared, diffs)
  const ownRefs = diffs.flatMap((diff) => diff.refs.filter((ref) => ref.key === chatKey(diff.chatId)))
  for (const nextRefs of [() => ownRefs, () => draft.messagesToRead()]) {
    const refs = nextRefs()
    for (let at = 0; at < refs.length;) {
      const next = refs.slice(at, at + ITEMS_MAX)
      const page = file.read((db) => readPage(db, next, file.readMsMax))
      draft.add(page)
      at += page.taken
      if (draft.isFull) yield draft.take(false)
    }
  }
  yield draft.take(true)
}

type ChatDraft = ReturnType<typeof startDraft>

/** Collects what was read since the last portion. */
class PortionDraft {
  /** Part of the ids that are made for messages without an id. */
  readonly #sourceId: string
  readonly #drafts: ReadonlyMap<ChatId, ChatDraft>
  readonly #mirror: Mirror
  readonly #placed = new Set<string>()
  #portion = emptyPortion()
  /** UTF-16 units of the collected messages. */
  length = 0

  constructor(compared: Compared, diffs: readonly ChatDiff[]) {
    this.#sourceId = held.sourceIdOf(compared.mirror, compared.num)
    this.#drafts = new Map(diffs.map((diff) => [diff.chatId, startDraft(diff, compared)]))
    this.#mirror = compared.mirror
    this.#portion.goneKeys.push(...diffs.flatMap(({ goneKeys }) => goneKeys))
  }

  add(page: Page): void {
    this.#portion.bytesRead += page.bytesRead
    this.#portion.longestReadMs = Math.max(this.#portion.longestReadMs, page.elapsedMs)
    this.#portion.rowsDone += page.taken
    for (const { key } of page.unreadable) this.#portion.issues.push({ key, reason: 'unreadable-page', octets: null })
    for (const row of page.rows) {
      const key = splitKey(row.key)
      const draft = key === null ? undefined : this.#drafts.get(key.chatId)
      if (draft === undefined) continue
      if (key?.kind === 'message') this.#addMessageRow(draft, row, key)
      else this.#addOwnRow(draft, row)
    }
  }

  #addOwnRow(draft: ChatDraft, row: RawRow): void {
    const { chatId } = draft.diff
    const issuesOf = (reason: IssueReason | null): RowIssue[] => (reason === null ? [] : [rowIssue(row, reason)])
    const besides = { rows: [rowState(row)], issues: [], evidence: [], paths: [] }
    if (row.value === null) {
      draft.ownRow = { kind: isDeletion(row) ? 'gone' : 'unreadable' }
      draft.besides = { ...besides, issues: isDeletion(row) ? [] : issuesOf('too-large') }
      return
    }
    // For messages without an id. It uses only store, chat and ordinal, so that a rebuilt mirror gets the same ids.
    const decoded = decodeChatRow(row.value, chatId, (ordinal) => madeId([this.#sourceId, chatId, ordinal]))
    if (decoded.kind === 'issue') {
      draft.ownRow = { kind: 'unreadable' }
      draft.besides = { ...besides, issues: issuesOf(decoded.reason) }
      return
    }
    this.#takeOwnRow(draft, decoded, row.octets)
    draft.besides = {
      ...besides,
      issues: issuesOf(decoded.issue),
      evidence: weighEvidence(chatId, decoded.evidence, { isOnly: true }),
      paths: decoded.paths.length === 0 ? [] : [{ chatId, uris: decoded.paths }],
    }
  }

  /** A message's own row is newer than the copy in the chat's row; the copy replaces an unreadable row. */
  #takeOwnRow(draft: ChatDraft, decoded: DecodedChatRow, octets: number): void {
    const { facts, outline, embedded, placeholders, toolData, namesCopy } = decoded
    const embeddedIds = new Set(embedded.map((message) => message.id))
    // If the messages of a chat are gone, a row of its own may name the copy.
    const keys = [...draft.diff.refs.map((ref) => ref.key), ...draft.diff.missedKeys]
    const isBare = outline !== null && outline.length > 0 && embeddedIds.size === 0 && keys.length === 1
    draft.ownRow = { kind: 'read', facts, outline, embeddedIds, octets, namesCopy: namesCopy || isBare }
    draft.toolData = toolData
    draft.roles = new Map(outline?.flatMap(({ id, role }) => (id === null ? [] : [[id, role]])))
    if (embedded.length + placeholders.size === 0) return
    const rowIds = new Set(keys.map(messageIdOf))
    for (const [id, placeholder] of placeholders) if (!rowIds.has(id)) draft.placeholders.set(id, placeholder)
    for (const message of embedded) {
      if (rowIds.has(message.id)) draft.copies.set(message.id, message)
      else this.#addMessage(draft, message)
    }
  }

  #addMessageRow(draft: ChatDraft, row: RawRow, key: { chatId: ChatId; messageId: MessageId }): void {
    const { chatId, messageId } = key
    const noteIssue = (reason: IssueReason | null): void => {
      if (reason !== null) this.#portion.issues.push(rowIssue(row, reason))
    }
    draft.unread -= 1
    this.#portion.rows.push(rowState(row))
    if (row.value === null) {
      if (isDeletion(row)) draft.vanished.push(messageId)
      else noteIssue('too-large')
      return
    }
    const { toolData, roles, copies } = draft
    const decoded = decodeMessageRow(row.value, messageId, row.octets, toolData.get(messageId), roles.get(messageId))
    if (decoded.kind === 'issue') {
      noteIssue(decoded.reason)
      const copy = copies.get(messageId)
      if (copy !== undefined) this.#addMessage(draft, copy)
      return
    }
    noteIssue(decoded.issue)
    for (const one of decoded.evidence ?? []) this.#place(chatId, one)
    if (decoded.kind === 'message') this.#addMessage(draft, decoded.message)
    else {
      draft.vanished.push(messageId)
      draft.placeholders.set(messageId, decoded.placeholder ?? null)
    }
  }

  #addMessage(draft: ChatDraft, message: MessageDraft): void {
    const packed = packMessage(message)
    draft.messages.push(packed)
    this.length += packed.partsJson.length
  }

  /** Where a message says that its chat belongs. The messages of one chat mostly agree, so duplicates are dropped. */
  #place(chatId: ChatId, evidence: Evidence): void {
    const name = `${chatId}\0${evidence.method}\0${evidence.uri}`
    if (this.#placed.has(name)) return
    this.#placed.add(name)
    // A chat can have been in two windows, so the evidence of one message does not replace that of another.
    this.#portion.evidence.push(...weighEvidence(chatId, [evidence], { isOnly: false }))
  }

  get isFull(): boolean {
    return this.length > PORTION_LENGTH_MAX || this.#portion.rows.length >= PORTION_ROWS_MAX
  }

  /** In order of rowid, of all chats. */
  messagesToRead(): RowRef[] {
    const refs = [...this.#drafts.values()].flatMap((draft) => {
      const ofChat = messagesToRead(draft, this.#mirror)
      draft.unread = ofChat.length
      return ofChat
    })
    return refs.sort((a, b) => a.rowid - b.rowid)
  }

  /**
   * Returns the portion and starts a new one. Deletions are in the first portion. Each chat's own row is in the portion
   * with its first messages, so that most chats are written once.
   */
  take(isLast: boolean): Portion {
    const portion = this.#portion
    for (const draft of this.#drafts.values()) {
      const { diff, ownRow, messages, vanished, placeholders } = draft
      const isGone = ownRow.kind === 'gone'
      if (ownRow.kind === 'forgotten') portion.droppedKeys.push(chatKey(diff.chatId))
      const hasNews = messages.length + vanished.length > 0 || isGone || (isLast && ownRow.kind !== 'unread')
      if (!hasNews) continue
      const hasMore = !isLast && draft.unread > 0
      portion.chats.push({ id: diff.chatId, ownRow, messages, vanished, placeholders, hasMore })
      // A row counts as read only when its content is in the mirror.
      const { rows, issues, evidence, paths } = draft.besides ?? emptyPortion()
      portion.rows.push(...rows)
      portion.issues.push(...issues)
      portion.evidence.push(...evidence)
      portion.paths.push(...paths)
      // A deleted chat is marked in every portion: before one of its messages is written, there is no chat to mark.
      if (!isGone) draft.ownRow = { kind: 'unread' }
      draft.besides = null
      draft.messages = []
      draft.vanished = []
      draft.placeholders = new Map()
    }
    this.#portion = emptyPortion()
    this.length = 0
    return portion
  }
}

function startDraft(diff: ChatDiff, { mirror, num }: Compared) {
  const key = chatKey(diff.chatId)
  const isThere = diff.refs.some((ref) => ref.key === key)
  const isGoneNow = diff.goneKeys.includes(key)
  const isGone = !isThere && (isGoneNow || held.isGoneRow(mirror, num, key))
  // A chat that was deleted whole is back by its messages alone. In a new mirror it would live.
  const isBack = isGone && !isGoneNow && !held.hasMessages(mirror, num, diff.chatId)
  const ownRow: OwnRow = { kind: isBack ? 'forgotten' : isGone ? 'gone' : 'unread' }
  return {
    diff,
    ownRow,
    /** What the chat's own row gives besides; null if it is not read yet, or is in a portion already. */
    besides: null as Pick<Portion, 'rows' | 'issues' | 'evidence' | 'paths'> | null,
    toolData: new Map() as ReadonlyMap<MessageId, unknown>,
    roles: new Map() as ReadonlyMap<MessageId, Role | null>,
    copies: new Map<MessageId, MessageDraft>(),
    messages: [] as MessageWrite[],
    placeholders: new Map<MessageId, Placeholder | null>(),
    /** How many rows of messages are still to be read. */
    unread: 0,
    vanished: diff.goneKeys.flatMap((gone) => messageIdOf(gone) ?? []),
  }
}

function messageIdOf(key: string): MessageId | null {
  const split = splitKey(key)
  return split?.kind === 'message' ? split.messageId : null
}

/**
 * Changed rows; rows without tool data whose tool data is in the chat's own row; and, if that row changed, rows whose
 * role in the mirror differs from the chat's list, because a row without a role takes it from there.
 */
function messagesToRead({ diff, toolData, roles }: ChatDraft, mirror: Mirror): RowRef[] {
  const own = chatKey(diff.chatId)
  const wanted = new Set(diff.changed.map((ref) => ref.key))
  const isAll = wanted.size === diff.refs.length
  const heldRoles =
    isAll || roles.size === 0 || !wanted.has(own) ? new Map<MessageId, Role>() : held.listRoles(mirror, diff.chatId)
  return diff.refs.filter(({ key }) => {
    if (key === own) return false
    if (wanted.has(key)) return true
    const id = messageIdOf(key) ?? asMessageId('')
    const [listed, heldRole] = [roles.get(id), heldRoles.get(id)]
    return (
      toolData.has(id) || (listed !== undefined && listed !== null && heldRole !== undefined && heldRole !== listed)
    )
  })
}

/** Cursor deletes by writing NULL. A value that is too large is not read, and has a size. */
const isDeletion = ({ value, octets }: RawRow): boolean => value === null && octets === 0

const rowState = ({ key, rowid, octets, checksum }: RawRow): RowState => ({ key, rowid, octets, checksum })

const rowIssue = ({ key, octets }: RawRow, reason: IssueReason): RowIssue => ({ key, reason, octets })
