import { asMessageId, type ChatId, type MessageId } from '../../../../model/ids.ts'
import type { IssueReason } from '../../../../model/issue.ts'
import type { Role } from '../../../../model/message.ts'
import type { OpenFile } from '../../../open-safely/cursor-file.ts'
import type { DecodedChatRow } from '../../../decoded.ts'
import { weighEvidence } from '../../../projects/evidence.ts'
import { ITEMS_MAX } from '../../../open-safely/read-portion.ts'
import { decodeChatRow } from '../../records/chat/decode-chat.ts'
import { madeId } from '../../records/chat/whole-chats.ts'
import { decodeMessageRow } from '../../records/message/decode-message.ts'
import type { ChatDiff } from '../detect/diff-chats.ts'
import {
  PortionDraft,
  rowIssue,
  rowState,
  type Besides,
  type ChatDraft,
  type Drafts,
  type Known,
  type Portion,
} from './portion-draft.ts'
import { chatKey, splitKey } from '../keys.ts'
import { readPage, type Page, type RawRow, type RowRef } from './read.ts'

/** Decoded data is written when it reaches this length, so that memory does not grow with a chat's size. */
const PORTION_LENGTH_MAX = 2 * 1024 * 1024

/**
 * Reads the changes in a few chats: first the chats' own rows, for order and tool data, then their messages by rowid.
 * Yields a portion whenever enough was read; every portion is complete in itself.
 */
export function* readChats(
  file: OpenFile,
  sourceId: string,
  diffs: readonly ChatDiff[],
  known: Known,
): Generator<Portion, void> {
  const drafts = new Map(diffs.map((diff) => [diff.chatId, startDraft(diff, known)]))
  const portion = new PortionDraft(drafts, known)
  const ownRefs = diffs.flatMap((diff) => diff.refs.filter((ref) => ref.key === chatKey(diff.chatId)))
  for (const page of pages(file, ownRefs)) {
    portion.count(page)
    for (const row of page.rows) readOwnRow(portion, drafts, row, sourceId)
    if (portion.length > PORTION_LENGTH_MAX) yield portion.take(-Infinity)
  }
  const messageRefs = [...drafts.values()]
    .flatMap((draft) => messagesToRead(draft, known))
    .sort((a, b) => a.rowid - b.rowid)
  let taken = 0
  for (const page of pages(file, messageRefs)) {
    portion.count(page)
    taken += page.taken
    for (const row of page.rows) readMessageRow(portion, drafts, row)
    if (portion.length > PORTION_LENGTH_MAX) yield portion.take(messageRefs[taken - 1]?.rowid ?? -Infinity)
  }
  yield portion.take(Infinity)
}

function startDraft(diff: ChatDiff, known: Known): ChatDraft {
  const key = chatKey(diff.chatId)
  const isThere = diff.refs.some((ref) => ref.key === key)
  const isGone = !isThere && (diff.goneKeys.includes(key) || known.isGoneRow(key))
  return {
    diff,
    ownRow: isGone ? { kind: 'gone' } : { kind: 'unread' },
    besides: null,
    toolData: new Map(),
    roles: new Map(),
    copies: new Map(),
    messages: [],
    placeholders: new Map(),
    vanished: diff.goneKeys.flatMap((gone) => messageIdOf(gone) ?? []),
    outline: null,
    lastRowid: diff.changed.reduce((last, ref) => (ref.key === key ? last : Math.max(last, ref.rowid)), -Infinity),
    written: 'nothing',
  }
}

function messageIdOf(key: string): MessageId | null {
  const split = splitKey(key)
  return split?.kind === 'message' ? split.messageId : null
}

function* pages(file: OpenFile, refs: readonly RowRef[]): Generator<Page, void> {
  for (let from = 0; from < refs.length;) {
    const next = refs.slice(from, from + ITEMS_MAX)
    const page = file.read((db) => readPage(db, next, file.readMsMax))
    yield page
    from += page.taken
  }
}

/**
 * Changed rows; rows without tool data whose tool data is in the chat's own row; and, if that row changed, rows whose
 * role in the mirror differs from the chat's list, because a row without a role takes it from there.
 */
function messagesToRead({ diff, toolData, roles }: ChatDraft, known: Known): RowRef[] {
  const own = chatKey(diff.chatId)
  const wanted = new Set(diff.changed.map((ref) => ref.key))
  const isAll = wanted.size === diff.refs.length
  const heldRoles =
    isAll || roles.size === 0 || !wanted.has(own) ? new Map<MessageId, Role>() : known.roles(diff.chatId)
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

function readOwnRow(portion: PortionDraft, drafts: Drafts, row: RawRow, sourceId: string): void {
  const draft = drafts.get(splitKey(row.key)?.chatId as ChatId)
  if (draft === undefined) return
  const { chatId } = draft.diff
  const bare: Besides = { row: rowState(row), issues: [], evidence: [], paths: [] }
  const unread = (reason: IssueReason): Besides => ({ ...bare, issues: [rowIssue(row, reason)] })
  if (row.value === null) {
    draft.ownRow = { kind: isDeletion(row) ? 'gone' : 'unreadable' }
    draft.besides = isDeletion(row) ? bare : unread('too-large')
    return
  }
  // For messages without an id. It uses only store, chat and ordinal, so that a rebuilt mirror gets the same ids.
  const decoded = decodeChatRow(row.value, chatId, (ordinal) => madeId([sourceId, chatId, ordinal]))
  if (decoded.kind === 'issue') {
    draft.ownRow = { kind: 'unreadable' }
    draft.besides = unread(decoded.reason)
    return
  }
  takeOwnRow(portion, draft, decoded, row.octets)
  draft.besides = {
    row: rowState(row),
    issues: decoded.issue === null ? [] : [rowIssue(row, decoded.issue)],
    evidence: weighEvidence(chatId, decoded.evidence, { isOnly: true }),
    paths: decoded.paths.length === 0 ? [] : [{ chatId, uris: decoded.paths }],
  }
}

/** A message's own row is newer than the copy in the chat's row; the copy replaces an unreadable row. */
function takeOwnRow(
  portion: PortionDraft,
  draft: ChatDraft,
  { facts, outline, embedded, placeholders, toolData, namesCopy }: DecodedChatRow,
  octets: number,
): void {
  const ids = new Set(embedded.map((message) => message.id))
  // If the messages of a chat are gone, a row of its own may name the copy.
  const keys = [...draft.diff.refs.map((ref) => ref.key), ...draft.diff.missedKeys]
  const isBare = outline !== null && outline.length > 0 && ids.size === 0 && keys.length === 1
  draft.ownRow = { kind: 'read', facts, outline, embeddedIds: ids, octets, namesCopy: namesCopy || isBare }
  draft.outline = outline
  draft.toolData = toolData
  draft.roles = new Map(outline?.flatMap(({ id, role }) => (id === null ? [] : [[id, role]])))
  if (embedded.length + placeholders.size === 0) return
  const rowIds = new Set(keys.map(messageIdOf))
  for (const [id, placeholder] of placeholders) if (!rowIds.has(id)) draft.placeholders.set(id, placeholder)
  for (const message of embedded) {
    if (rowIds.has(message.id)) draft.copies.set(message.id, message)
    else portion.addMessage(draft, message)
  }
}

/** Cursor deletes by writing NULL. A value that is too large is not read, and has a size. */
const isDeletion = ({ value, octets }: RawRow): boolean => value === null && octets === 0

function readMessageRow(portion: PortionDraft, drafts: Drafts, row: RawRow): void {
  const key = splitKey(row.key)
  if (key?.kind !== 'message') return
  const draft = drafts.get(key.chatId)
  if (draft === undefined) return
  portion.noteRow(row)
  if (row.value === null) {
    if (isDeletion(row)) draft.vanished.push(key.messageId)
    else portion.noteIssue(row, 'too-large')
    return
  }
  const decoded = decodeMessageRow(
    row.value,
    key,
    row.octets,
    draft.toolData.get(key.messageId),
    draft.roles.get(key.messageId),
  )
  if (decoded.kind === 'issue') {
    portion.noteIssue(row, decoded.reason)
    const copy = draft.copies.get(key.messageId)
    if (copy !== undefined) portion.addMessage(draft, copy)
    return
  }
  if (decoded.issue !== null) portion.noteIssue(row, decoded.issue)
  portion.messageEvidence.add(key.chatId, decoded.evidence)
  if (decoded.kind === 'message') portion.addMessage(draft, decoded.message)
  else {
    draft.vanished.push(key.messageId)
    draft.placeholders.set(key.messageId, decoded.placeholder ?? null)
  }
}
