import type { ChatTime, Outline } from '../../model/thread.ts'
import type { MessageId } from '../../model/ids.ts'
import type { Part } from '../../model/part.ts'
import type { Mirror } from '../open.ts'
import { parseParts } from '../parse-parts.ts'
import { prepared } from '../sql.ts'
import { arrangePart, assemble, type Assembled, type PlacedMessage } from '../threads/assemble.ts'
import { renameRivals, replacedMessage } from '../threads/messages-by-place.ts'
import { readOutline } from './own-row.ts'
import {
  listPlaceholders,
  noneLent,
  ownTokens,
  readLent,
  saveLent,
  withLent,
  type LentTokens,
} from '../threads/placeholders.ts'
import { tellsFacts, type ChatChange, type MessageWrite, type PendingReference } from '../../model/change.ts'
import { dropSuperseded, isPromptHeld } from './held-chat.ts'
import {
  findMessage,
  listMessages,
  MessageSaver,
  readParts,
  type HeldMessage,
  type MessageColumns,
  type NextMessage,
} from './messages.ts'
import { packMessage } from './pack-message.ts'
import { notePendingReferences } from './references.ts'
import type { WriteTools } from './write.ts'

export interface ThreadWrite {
  readonly chatNum: number
  /** True if the mirror had nothing of the chat before. */
  readonly isNew: boolean
  readonly write: ChatChange
  /** The source from which `write` was read. */
  readonly source: number
  /** The source that decides the chat's facts. */
  readonly owner: number
  readonly isPrompts: boolean
  readonly chatTime: ChatTime | null
  readonly nowMs: number
  readonly tools: WriteTools
}

export interface ThreadOutcome {
  readonly added: number
  readonly changed: number
  readonly gone: number
  readonly messageIds: readonly MessageId[]
  /** The current state of all messages of the chat, from all sources; null if only a part of it was read. */
  readonly all: readonly MessageColumns[] | null
}

/**
 * Updates the messages of one chat from a source, and places all of them again: a new outline or a new neighbour can move
 * a message that did not change itself.
 */
export function writeThread(db: Mirror, thread: ThreadWrite): ThreadOutcome {
  const lent = thread.isNew ? noneLent : readLent(db, thread.chatNum)
  if (thread.write.hasMore === true && canWait(db, thread)) {
    prepared(db, NOTE_UNPLACED).run(thread.chatNum)
    const read = thread.write.messages.map((message) =>
      readAgain(db, thread, findMessage(db, thread.chatNum, message.id, thread.source), message),
    )
    const outline = readOutline(db, thread.chatNum, thread.source) ?? null
    return { ...savePlaced(db, thread, { placed: arrangePart(read, outline, thread.chatTime), lent }), all: null }
  }
  prepared(db, TAKE_PLACED).run(thread.chatNum)
  const next = nextMessages(db, thread, lent)
  const superseded = thread.write.supersedes === true ? next.filter(isSuperseded) : []
  for (const { held } of superseded) {
    if (held === null) continue
    const { key, id, body, is_shadowed: isShadowed } = held
    dropSuperseded(db, thread.write.id, { key, chat: thread.chatNum, id, body, isShadowed })
  }
  const rest = superseded.length === 0 ? next : next.filter((message) => !isSuperseded(message))
  const assembled = assemble(sayingsOf(db, thread, rest))
  saveLent(db, thread.chatNum, lent, assembled.lent)
  const outcome = savePlaced(db, thread, assembled)
  return { ...outcome, changed: outcome.changed + superseded.length }
}

const NOTE_UNPLACED = `insert into unplaced (chat) values (?) on conflict do nothing`
const TAKE_PLACED = `delete from unplaced where chat = ?`
const IS_HELD = `select 1 from messages where chat = ? and id = ? limit 1`
const HAS_OTHER = `select 1 from messages where chat = ? and source <> ? limit 1`

/** Whether the messages that were read can have a place for themselves until the rest of the chat is read. */
function canWait(db: Mirror, { chatNum, isNew, isPrompts, source, write }: ThreadWrite): boolean {
  if (isNew || isPrompts || write.ownRow.kind !== 'unread') return false
  // A vanished row counts only if it was a message: a row with nothing to show may never have been one.
  const isAnyLost = write.vanished.some((id) => prepared(db, IS_HELD).get(chatNum, id) !== undefined)
  return !isAnyLost && prepared(db, HAS_OTHER).get(chatNum, source) === undefined
}

/** A message that only an older decoder read as one: the source, read again, no longer yields it. */
const isSuperseded = ({ held, columns }: NextMessage): boolean => held?.is_live === 1 && columns.is_live === 0

/** The next state of every message of the chat, except for its place and for the tokens of placeholders. */
function nextMessages(db: Mirror, thread: ThreadWrite, lent: LentTokens): NextMessage[] {
  if (!thread.isNew) renameRivals(db, thread.chatNum, thread.source, thread.write)
  const held = thread.isNew ? [] : listMessages(db, thread.chatNum)
  const vanished = new Set(thread.write.vanished)
  const others: NextMessage[] = []
  const own = new Map<MessageId, NextMessage>()
  for (const message of held) {
    const columns = lent.size === 0 ? message : ownTokens(message, lent)
    const next = { held: message, columns, partsJson: null, calls: null }
    if (message.source !== thread.source) others.push(next)
    else
      own.set(
        message.id,
        isLost(message, thread.write.ownRow, vanished) ? { ...next, columns: gone(columns, thread.nowMs) } : next,
      )
  }
  for (const message of thread.write.messages) {
    const before = own.get(message.id)?.held ?? null
    const former = before === null ? null : replacedMessage(db, before, message, thread)
    const isMoved = former !== null && !own.has(former.columns.id)
    if (isMoved) own.set(former.columns.id, former)
    own.set(message.id, readAgain(db, thread, isMoved ? null : before, message))
  }
  return [...own.values(), ...others]
}

/** Whether a message that this pass did not read is gone from the source. */
function isLost(
  { id, is_live, is_embedded }: HeldMessage,
  ownRow: ChatChange['ownRow'],
  vanished: ReadonlySet<MessageId>,
): boolean {
  if (is_live === 0) return false
  if (is_embedded === 0) return vanished.has(id)
  return ownRow.kind === 'gone' || (ownRow.kind === 'read' && !ownRow.embeddedIds.has(id))
}

const gone = (columns: MessageColumns, deletedAtMs: number): MessageColumns => ({
  ...columns,
  is_live: 0,
  deleted_at: deletedAtMs,
})

/** The next state of a message that was read. Its place is still the former one. */
function readAgain(
  db: Mirror,
  { chatNum, source }: ThreadWrite,
  held: HeldMessage | null,
  read: MessageWrite,
): NextMessage {
  const message = withFoundContent(db, held, read)
  notePendingReferences(db, { chat: chatNum, source, messageId: message.id }, message, held === null)
  const columns: MessageColumns = {
    source,
    id: message.id,
    role: message.role,
    alias: message.alias,
    position: held?.position ?? null,
    created_at: held?.created_at ?? null,
    created_at_source: held?.created_at_source ?? null,
    sent_at: message.sentAtMs,
    started_at: message.startedAtMs,
    timing_at: message.timingAtMs,
    model: message.model,
    input_tokens: message.tokens?.input ?? null,
    output_tokens: message.tokens?.output ?? null,
    estimated_input: message.estimate.input,
    estimated_output: message.estimate.output,
    request_id: message.requestId ?? null,
    is_orphan: held?.is_orphan ?? 0,
    is_shadowed: held?.is_shadowed ?? 0,
    is_simulated: message.isSimulated ? 1 : 0,
    is_embedded: message.isEmbedded ? 1 : 0,
    is_live: message.remembered ? 0 : 1,
    deleted_at: message.remembered?.deletedAtMs ?? null,
    tool_calls: message.toolCalls,
    octets: message.octets,
    content_hash: message.contentHash,
    user_text: message.userText,
    text_keys: message.textKeys,
    marks: message.marks,
    is_index_capped: message.isIndexCapped ? 1 : 0,
  }
  return { held, columns, partsJson: message.partsJson, calls: message.calls }
}

function sayingsOf(
  db: Mirror,
  { chatNum, source, owner, isPrompts, write, chatTime, tools: { ranks } }: ThreadWrite,
  messages: readonly NextMessage[],
): Parameters<typeof assemble>[0] {
  return {
    messages,
    owner,
    chatTime,
    ranks,
    outlineOf: (of: number): Outline | undefined =>
      of === source && tellsFacts(write.ownRow) ? write.ownRow.outline : readOutline(db, chatNum, of),
    placeholdersOf: (of) => listPlaceholders(db, chatNum, of),
    isRepeated: ({ user_text }) => isPrompts && isPromptHeld(db, user_text),
  }
}

function savePlaced(db: Mirror, thread: ThreadWrite, { placed, lent }: Assembled) {
  const saver = new MessageSaver(db, thread.chatNum, thread.tools)
  const outcome = { added: 0, changed: 0, gone: 0, messageIds: [] as MessageId[], all: [] as MessageColumns[] }
  for (const [message, place] of placed) {
    const { held } = message
    const own = lent.size === 0 ? message.columns : withLent(message.columns, lent)
    if (held !== null && own === held && isInPlace(held, place)) {
      outcome.all.push(held)
      continue
    }
    const next = { ...message, columns: { ...own, ...place } }
    outcome.all.push(next.columns)
    if (!saver.save(next)) continue
    if (!thread.isPrompts) notePrompts(thread, next)
    if (held === null) outcome.added += 1
    else if (held.is_live === 1 && next.columns.is_live === 0) outcome.gone += 1
    else outcome.changed += 1
    outcome.messageIds.push(next.columns.id)
  }
  saver.write()
  return outcome
}

/** True for nearly all messages of a long chat after one was written. It saves comparing them column by column. */
const isInPlace = (held: HeldMessage, place: PlacedMessage[1]): boolean =>
  place.position === held.position &&
  place.created_at === held.created_at &&
  place.created_at_source === held.created_at_source &&
  place.is_orphan === held.is_orphan &&
  place.is_shadowed === held.is_shadowed

/** A prompt in a chat of prompts counts only while no other chat contains it, so a changed text affects those chats. */
function notePrompts({ tools }: ThreadWrite, { held, columns }: NextMessage): void {
  if (held?.user_text === columns.user_text) return
  tools.prompts.note(held?.user_text ?? null)
  tools.prompts.note(columns.user_text)
}

/** Adds formerly found content to a message that was read again: Cursor writes the same row many times. */
function withFoundContent(db: Mirror, held: HeldMessage | null, message: MessageWrite): MessageWrite {
  const { asks, partsJson } = message
  if (held === null || asks.length === 0) return message
  const before = parseParts(readParts(db, held.body))
  let parts = parseParts(partsJson)
  const open = asks.filter((reference) => {
    const found = before.find((part) => isContentOf(part, reference))
    if (found !== undefined) parts = addContent(parts, reference, found)
    return found === undefined
  })
  return open.length === asks.length ? message : packMessage({ ...message, parts, asks: open })
}

const isContentOf = (part: Part, { kind, name }: PendingReference): boolean =>
  kind === 'output'
    ? part.kind === 'tool' && part.callId === name && part.outputFrom !== undefined
    : part.kind === 'attachment' && part.hash === name

function addContent(parts: readonly Part[], { name }: PendingReference, answer: Part): readonly Part[] {
  if (answer.kind !== 'tool') return [...parts, answer]
  const { output, outputFrom } = answer
  return parts.map((part) =>
    part.kind === 'tool' && part.callId === name && outputFrom !== undefined ? { ...part, output, outputFrom } : part,
  )
}
