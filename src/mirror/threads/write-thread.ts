import type { MessageId } from '../../model/ids.ts'
import type { ChatWrite } from '../write/batch.ts'
import { listHeldMessages } from '../write/messages/held-messages.ts'
import type { HeldMessage, MessageColumns, NextMessage } from '../write/messages/message-columns.ts'
import type { Mirror } from '../open.ts'
import { renameRivals, replacedMessage } from './messages-by-place.ts'
import { placePart, noteUnplaced, takePlaced } from './place-part.ts'
import { placeAll, type Place, type ThreadWrite } from './place-thread.ts'
import { rewriteInPlace } from './rewrite-in-place.ts'
import { NewMessages, saveMessage } from '../write/messages/save-message.ts'
import { dropSuperseded } from '../write/chats/superseded.ts'
import { upsertMessage } from '../write/messages/upsert-message.ts'

export interface ThreadOutcome {
  readonly added: number
  readonly changed: number
  readonly gone: number
  readonly messageIds: readonly MessageId[]
  /** The current state of all messages of the chat, from all sources; null if no loss can have changed. */
  readonly all: readonly MessageColumns[] | null
}

/**
 * Updates the messages of one chat from a source, and places all of them again: a new outline or a new neighbour can move
 * a message that did not change itself. If no message can have moved, only the changed ones are written.
 */
export function writeThread(db: Mirror, thread: ThreadWrite): ThreadOutcome {
  if (thread.write.supersedes === true) return supersede(db, thread)
  const part = placePart(db, thread)
  if (part !== null) {
    noteUnplaced(db, thread.chatNum, thread.source)
    return { ...savePlaced(db, thread, part), all: null }
  }
  const rewritten = rewriteInPlace(db, thread)
  if (rewritten !== null) return { ...savePlaced(db, thread, rewritten), all: null }
  takePlaced(db, thread.chatNum)
  return savePlaced(db, thread, placeAll(db, thread, nextMessages(db, thread)))
}

const isSuperseded = ({ held, columns }: NextMessage): boolean => held?.is_live === 1 && columns.is_live === 0

/** Like `writeThread`, but removes messages that the source no longer yields: only an older decoder read them as messages. */
function supersede(db: Mirror, thread: ThreadWrite): ThreadOutcome {
  const next = nextMessages(db, thread)
  const superseded = next.filter(isSuperseded)
  for (const { held } of superseded) {
    if (held === null) continue
    const { key, id, body, is_shadowed: isShadowed } = held
    dropSuperseded(db, thread.write.id, { key, chat: thread.chatNum, id, body, isShadowed })
  }
  takePlaced(db, thread.chatNum)
  const rest = superseded.length === 0 ? next : next.filter((message) => !isSuperseded(message))
  const outcome = savePlaced(db, thread, placeAll(db, thread, rest))
  return { ...outcome, changed: outcome.changed + superseded.length }
}

/** The next state of every message of the chat, except for its place. */
function nextMessages(db: Mirror, thread: ThreadWrite): NextMessage[] {
  if (!thread.isNew) renameRivals(db, thread.chatNum, thread.source, thread.write)
  const held = thread.isNew ? [] : listHeldMessages(db, thread.chatNum)
  const others = held.filter(({ source }) => source !== thread.source).map(unchanged)
  const own = new Map<MessageId, NextMessage>()
  for (const message of held.filter(({ source }) => source === thread.source)) {
    own.set(message.id, { held: message, columns: markIfLost(message, thread), partsJson: null, calls: null })
  }
  for (const message of thread.write.messages) {
    const before = own.get(message.id)?.held ?? null
    const former = before === null ? null : replacedMessage(db, before, message, thread)
    const isMoved = former !== null && !own.has(former.columns.id)
    if (isMoved) own.set(former.columns.id, former)
    own.set(message.id, upsertMessage(db, thread, isMoved ? null : before, message))
  }
  return [...own.values(), ...others]
}

const unchanged = (held: HeldMessage): NextMessage => ({ held, columns: held, partsJson: null, calls: null })

/** @param placed messages with their new places; other messages stay unchanged */
function savePlaced(
  db: Mirror,
  thread: ThreadWrite,
  placed: readonly (readonly [NextMessage, Place])[],
): ThreadOutcome {
  const added = new NewMessages()
  const outcome = { added: 0, changed: 0, gone: 0, messageIds: [] as MessageId[], all: [] as MessageColumns[] }
  for (const [message, place] of placed) {
    const { held: before, partsJson, calls } = message
    if (before !== null && isUnchanged(message, place)) {
      outcome.all.push(before)
      continue
    }
    const next = { held: before, columns: placedColumns(message.columns, place), partsJson, calls }
    outcome.all.push(next.columns)
    if (!saveMessage(db, thread.tools, thread.chatNum, next, added)) continue
    if (!thread.isPrompts) notePrompts(thread, next)
    if (message.held === null) outcome.added += 1
    else if (message.held.is_live === 1 && message.columns.is_live === 0) outcome.gone += 1
    else outcome.changed += 1
    outcome.messageIds.push(message.columns.id)
  }
  added.write(db)
  return outcome
}

/** True for nearly all messages of a long chat after one was written. It saves comparing them column by column. */
const isUnchanged = ({ held, columns }: NextMessage, place: Place): boolean =>
  columns === held &&
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

/** Field by field: an object spread is slow, and this runs for every message. */
function placedColumns(columns: MessageColumns, place: Place): MessageColumns {
  const { position, created_at, created_at_source, is_orphan, is_shadowed } = place
  return {
    source: columns.source,
    id: columns.id,
    role: columns.role,
    alias: columns.alias,
    position,
    created_at,
    created_at_source,
    sent_at: columns.sent_at,
    started_at: columns.started_at,
    timing_at: columns.timing_at,
    model: columns.model,
    input_tokens: columns.input_tokens,
    output_tokens: columns.output_tokens,
    estimated_input: columns.estimated_input,
    estimated_output: columns.estimated_output,
    request_id: columns.request_id,
    is_orphan,
    is_shadowed,
    is_simulated: columns.is_simulated,
    is_embedded: columns.is_embedded,
    is_live: columns.is_live,
    deleted_at: columns.deleted_at,
    tool_calls: columns.tool_calls,
    octets: columns.octets,
    content_hash: columns.content_hash,
    user_text: columns.user_text,
    text_keys: columns.text_keys,
    marks: columns.marks,
    is_index_capped: columns.is_index_capped,
  }
}

/** The next state of a message that this pass did not read. */
function markIfLost(held: HeldMessage, { write, nowMs }: ThreadWrite): MessageColumns {
  if (held.is_live === 0) return held
  const isLost = held.is_embedded === 1 ? isNoLongerEmbedded(held.id, write.ownRow) : write.vanished.includes(held.id)
  return isLost ? { ...held, is_live: 0, deleted_at: nowMs } : held
}

function isNoLongerEmbedded(id: MessageId, ownRow: ChatWrite['ownRow']): boolean {
  if (ownRow.kind === 'gone') return true
  return ownRow.kind === 'read' && !ownRow.embeddedIds.has(id)
}
