import type { MessageId } from '../model/ids.ts'
import type { Placement, ThreadEntry } from '../model/thread.ts'
import type { ChatWrite, MessageWrite } from './batch.ts'
import { findCopies } from './find-copies.ts'
import type { HeldMessage, MessageColumns, NextMessage } from './message-columns.ts'
import type { Mirror } from './open.ts'
import { readOutline } from './outlines.ts'
import { isPromptHeld } from './prompt-chats.ts'
import { prepared } from './prepared.ts'
import { saveMessage } from './save-message.ts'
import type { WriteTools } from './write-tools.ts'

export interface ThreadWrite {
  readonly chatNum: number
  readonly write: ChatWrite
  /** The source whose word `write` is. */
  readonly source: number
  readonly isPrompts: boolean
  readonly chatCreatedAtMs: number | null
  readonly nowMs: number
  readonly tools: WriteTools
}

export interface ThreadOutcome {
  readonly added: number
  readonly changed: number
  readonly gone: number
  readonly messageIds: readonly MessageId[]
}

const LIST_HELD = `
select key, source, body, id, role, alias, position, created_at, created_at_source, sent_at, started_at, timing_at, model,
  input_tokens, output_tokens, is_orphan, is_shadowed, is_simulated, is_embedded, is_live, deleted_at, tool_calls,
  octets, content_hash, user_text, is_index_capped
from messages where chat = ?
`

/**
 * Brings the messages of one chat to what the source says, and gives all of them their place: a new list or a new
 * neighbour can move a message that was itself not touched.
 */
export function writeThread(db: Mirror, thread: ThreadWrite): ThreadOutcome {
  const { ranks } = thread.tools
  const held = prepared<HeldMessage>(db, LIST_HELD).all(thread.chatNum)
  const next = new Map<MessageId, NextMessage>(
    held.map((message) => [message.id, { held: message, columns: keepOrLose(message, thread), partsJson: null }]),
  )
  for (const message of thread.write.messages) {
    const before = next.get(message.id)?.held ?? null
    // A fuller source holds it already.
    if (before?.is_live === 1 && ranks.of(before.source) < ranks.of(thread.source)) continue
    next.set(message.id, readAgain(before, message, thread.source))
  }
  const outcome = { added: 0, changed: 0, gone: 0, messageIds: [] as MessageId[] }
  for (const [id, place] of placeAll(db, thread, [...next.values()])) {
    const message = next.get(id)
    if (message === undefined) throw new Error('a placement names no message of its chat')
    const placed = { ...message, columns: { ...message.columns, ...place } }
    const isSaved = saveMessage(db, thread.tools, thread.chatNum, placed)
    if (!isSaved) continue
    if (message.held === null && !thread.isPrompts) thread.tools.prompts.note(message.columns.user_text)
    if (message.held === null) outcome.added += 1
    else if (message.held.is_live === 1 && message.columns.is_live === 0) outcome.gone += 1
    else outcome.changed += 1
    outcome.messageIds.push(id)
  }
  return outcome
}

type Place = Pick<MessageColumns, 'position' | 'created_at' | 'created_at_source' | 'is_orphan' | 'is_shadowed'>

/**
 * The best source that holds messages gives the order. A message of another source takes its place where that order
 * names it, or by its time where there is no order; what the thread holds already is a copy, and the rest are orphans.
 */
function placeAll(db: Mirror, thread: ThreadWrite, messages: readonly NextMessage[]): (readonly [MessageId, Place])[] {
  const best = thread.tools.ranks.best(messages.map(({ columns }) => columns.source))
  const outline = best === null ? null : readOutline(db, thread.chatNum, best)
  const others = messages.filter(({ columns }) => columns.source !== best)
  const named = new Set(outline?.map(({ id }) => id))
  const repeated = thread.isPrompts ? messages.filter(({ columns }) => isPromptHeld(db, columns.user_text)) : []
  const strangers = others.filter(({ columns }) => !(outline === null ? hasTime(columns) : named.has(columns.id)))
  const apart = [...new Set([...repeated, ...strangers])]
  const outside = new Set(apart.map(({ columns }) => columns.id))
  const inside = messages.filter(({ columns }) => !outside.has(columns.id))
  const copies = new Set([...findCopies(db, inside, strangers), ...repeated.map(({ columns }) => columns.id)])
  const arranged = thread.tools.arrange(
    outline,
    inside.map((message) => threadEntry(message.columns)),
    thread.chatCreatedAtMs,
  )
  return [
    ...arranged.map((placement) => [placement.id, placeColumns(placement)] as const),
    ...apart.map(({ columns }) => [columns.id, placeApart(columns, copies.has(columns.id))] as const),
  ]
}

const hasTime = ({ sent_at, started_at, timing_at }: MessageColumns): boolean =>
  (sent_at ?? started_at ?? timing_at) !== null

const placeApart = ({ sent_at }: MessageColumns, isCopy: boolean): Place => ({
  position: null,
  created_at: sent_at,
  created_at_source: sent_at === null ? null : 'message',
  is_orphan: isCopy ? 2 : 1,
  is_shadowed: isCopy ? 1 : 0,
})

/** What becomes of a message that this pass did not read. */
function keepOrLose(held: HeldMessage, { write, nowMs, source, tools }: ThreadWrite): MessageColumns {
  if (held.is_live === 0) return held
  const isLost =
    held.is_embedded === 1
      ? held.source === source && lostItsPlace(held.id, write.ownRow)
      : tools.ranks.of(held.source) === tools.ranks.of(source) && write.vanished.includes(held.id)
  return isLost ? { ...held, is_live: 0, deleted_at: nowMs } : held
}

function lostItsPlace(id: MessageId, ownRow: ChatWrite['ownRow']): boolean {
  if (ownRow.kind === 'gone') return true
  return ownRow.kind === 'read' && !ownRow.embeddedIds.has(id)
}

function readAgain(held: HeldMessage | null, message: MessageWrite, source: number): NextMessage {
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
    is_orphan: held?.is_orphan ?? 0,
    is_shadowed: held?.is_shadowed ?? 0,
    is_simulated: message.isSimulated ? 1 : 0,
    is_embedded: message.isEmbedded ? 1 : 0,
    is_live: 1,
    deleted_at: null,
    tool_calls: message.toolCalls,
    octets: message.octets,
    content_hash: message.contentHash,
    user_text: message.userText,
    is_index_capped: message.isIndexCapped ? 1 : 0,
  }
  return { held, columns, partsJson: message.partsJson }
}

function threadEntry(columns: MessageColumns): ThreadEntry {
  return {
    id: columns.id,
    alias: columns.alias,
    role: columns.role,
    sentAtMs: columns.sent_at,
    startedAtMs: columns.started_at,
    timingAtMs: columns.timing_at,
    isLive: columns.is_live === 1,
    contentHash: columns.content_hash,
  }
}

function placeColumns(placement: Placement): Place {
  return {
    position: placement.position,
    created_at: placement.createdAtMs,
    created_at_source: placement.createdAtSource,
    is_orphan: placement.isOrphan ? 1 : 0,
    is_shadowed: placement.isShadowed ? 1 : 0,
  }
}
